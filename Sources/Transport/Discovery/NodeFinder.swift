package import NIOCore
import NIOPosix

/// Asks by multicast which nodes are there, for a command that is no member itself.
package enum NodeFinder {
    /// How long to wait for the first answer. A node answers within about 30 ms.
    package static let patience = Duration.milliseconds(400)

    /// The address of the first node of `cluster` that answers, or `nil`.
    ///
    /// - Throws: `NetworkInterfaceError` or an error of the system.
    package static func find(
        _ settings: MulticastSettings, cluster: String,
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) async throws -> NodeAddress? {
        let interfaces = try NetworkInterface.suitable(settings.interfaces, listening: nil)
        let clusterID = Beacon.clusterID(cluster)
        let (answers, continuation) = AsyncStream.makeStream(
            of: NodeAddress.self, bufferingPolicy: .bufferingOldest(16))
        let receiver = try await MulticastSocket.receiver(settings, on: interfaces, group: group) { envelope in
            guard let beacon = Beacon(envelope.data), beacon.cluster == clusterID, beacon.kind != .goodbye,
                let address = beacon.address(from: envelope.remoteAddress)
            else { return }
            continuation.yield(address)
        }
        var channels: [any Channel] = [receiver]
        let question = Beacon(.solicit, cluster: cluster, node: .random(), validity: 0, port: 0, host: "", name: "?")
        let destination = try SocketAddress(ipAddress: settings.group, port: settings.port)
        for interface in interfaces {
            guard let sender = try? await MulticastSocket.sender(settings, on: interface, group: group) else {
                continue
            }
            channels.append(sender)
            sender.writeAndFlush(AddressedEnvelope(remoteAddress: destination, data: question.encoded()), promise: nil)
        }
        let timer = group.next().scheduleTask(in: TimeAmount(patience)) { continuation.finish() }
        var found: NodeAddress?
        for await address in answers {
            found = address
            break
        }
        timer.cancel()
        for channel in channels { try? await channel.close().get() }
        return found
    }
}
