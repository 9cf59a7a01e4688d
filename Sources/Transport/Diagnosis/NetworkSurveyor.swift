import NIOConcurrencyHelpers
package import NIOCore
import NIOPosix

/// Makes a `NetworkSurvey`, with sockets of its own beside those of the machine's nodes.
package enum NetworkSurveyor {
    /// Questions asked, and the time between two.
    package static let questions = 3
    package static let pause = Duration.milliseconds(700)

    /// Asks, and then listens until the time `listening` is over.
    ///
    /// - Parameter isLoopbackOnly: whether the node of this machine keeps to loopback.
    /// - Throws: `NetworkInterfaceError`; an error of the system where the group's port cannot be bound; cancellation.
    package static func survey(
        _ settings: MulticastSettings, cluster: String, security: TransportSecurity, isLoopbackOnly: Bool,
        listening: Duration, group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) async throws -> NetworkSurvey {
        let interfaces = try NetworkInterface.all()
        if let missing = BeaconPath.missing(settings.interfaces, interfaces) { throw missing }
        let seal = BeaconSeal(cluster: cluster, security: security)
        let node = NodeID.random()
        let clock = ContinuousClock()
        let began = clock.now
        let survey = NIOLockedValueBox(NetworkSurvey(own: node, addresses: Set(interfaces.flatMap(\.addresses))))
        let sockets = BeaconSockets(settings, loop: group.next()) { envelope in
            let datagram = Result { () throws(BeaconFault) in try seal.open(envelope.data) }
            // A command of another cluster only asks, and is not a node.
            if case .failure(.foreign) = datagram, BeaconSeal.unverified(envelope.data)?.port == 0 { return }
            survey.withLockedValue {
                $0.heard(
                    datagram, from: envelope.remoteAddress, wall: WallClock.milliseconds, at: clock.now - began)
            }
        }
        try await sockets.bind()
        let listens: NodeAddress? = isLoopbackOnly ? .hostPort(host: "127.0.0.1", port: 0) : nil
        for path in BeaconPath.plan(interfaces, named: settings.interfaces, listening: listens) {
            survey.withLockedValue { $0.ways[path] = .init() }
            do {
                try await sockets.open(path)
            } catch {
                survey.withLockedValue { $0.ways[path]?.failure = String(describing: error) }
            }
        }
        do {
            var sequence: UInt64 = 0
            for _ in 1...questions {
                survey.withLockedValue { $0.asked(at: clock.now - began) }
                sockets.send { _ in
                    sequence += 1
                    return seal.question(from: node, sequence: sequence)
                } failed: { path, error in
                    survey.withLockedValue { $0.ways[path]?.failure = String(describing: error) }
                }
                try await Task.sleep(for: pause)
            }
            try await Task.sleep(until: began + listening)
        } catch {
            await sockets.close()
            throw error
        }
        await sockets.close()
        return survey.withLockedValue { $0 }
    }
}
