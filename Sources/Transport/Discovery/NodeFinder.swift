package import NIOCore
import NIOPosix

/// Asks by multicast which nodes are there, for a command that is no member itself.
package enum NodeFinder {
    /// How long to wait for the first answer. A node answers within about 30 ms.
    package static let patience = Duration.milliseconds(400)

    /// The address of the first node of the cluster that answers, or `nil`.
    ///
    /// - Throws: `NetworkInterfaceError` or an error of the system.
    package static func find(
        _ settings: MulticastSettings, cluster: String, security: TransportSecurity,
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) async throws -> NodeAddress? {
        let interfaces = try NetworkInterface.all()
        if let missing = BeaconPath.missing(settings.interfaces, interfaces) { throw missing }
        let seal = BeaconSeal(cluster: cluster, security: security)
        let (answers, continuation) = AsyncStream.makeStream(
            of: NodeAddress.self, bufferingPolicy: .bufferingOldest(16))
        let loop = group.next()
        let sockets = BeaconSockets(settings, loop: loop) { envelope in
            guard let beacon = try? seal.open(envelope.data), beacon.kind != .goodbye,
                let address = seal.isSecret
                    ? beacon.addresses(from: envelope.remoteAddress).first
                    : beacon.addressOfSource(envelope.remoteAddress)
            else { return }
            continuation.yield(address)
        }
        try await sockets.bind()
        for path in BeaconPath.plan(interfaces, named: settings.interfaces, listening: nil) {
            // A path that cannot be opened is one way less to be heard by.
            try? await sockets.open(path)
        }
        let node = NodeID.random()
        var sequence: UInt64 = 0
        sockets.send { _ in
            sequence += 1
            return seal.question(from: node, sequence: sequence)
        }
        let timer = loop.scheduleTask(in: TimeAmount(patience)) { continuation.finish() }
        var found: NodeAddress?
        for await address in answers {
            found = address
            break
        }
        timer.cancel()
        await sockets.close()
        return found
    }
}
