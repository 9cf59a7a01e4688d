import NIOConcurrencyHelpers
package import NIOCore
import NIOPosix

/// Asks by multicast which nodes are there, for a command that is no member itself.
package enum NodeFinder {
    /// How long to wait for answers. A node answers within about 30 ms, or 100 ms after its last beacon.
    package static let patience = Duration.milliseconds(400)
    /// How many nodes are told of at most, and how many others.
    private static let limit = 16

    package enum Sighting: Sendable {
        /// A node of this cluster may be at this address.
        case node(NodeAddress)
        /// A node that this command has nothing in common with.
        case stranger(Stranger)
    }

    /// A node whose beacons do not count: of another cluster, with another key or with none. Nobody can tell whether it is true what
    /// they say.
    package struct Stranger: Hashable, Sendable {
        package var fault: BeaconFault
        package var address: String

        package init(fault: BeaconFault, address: String) {
            (self.fault, self.address) = (fault, address)
        }
    }

    /// What has been told already. Nodes send on several ways.
    private struct Told {
        var addresses: Set<NodeAddress> = []
        var strangers: Set<NodeID> = []

        mutating func isNew(_ heard: (node: NodeID, sighting: Sighting)) -> Bool {
            switch heard.sighting {
            case .node(let address): addresses.count < limit && addresses.insert(address).inserted
            case .stranger: strangers.count < limit && strangers.insert(heard.node).inserted
            }
        }
    }

    /// The address of the first node of the cluster that answers, or `nil`.
    ///
    /// - Throws: as `listen`.
    package static func find(
        _ settings: MulticastSettings, cluster: String, security: TransportSecurity,
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) async throws -> NodeAddress? {
        try await listen(settings, cluster: cluster, security: security, group: group) { sightings in
            for await case .node(let address) in sightings { return address }
            return nil
        }
    }

    /// Asks, and tells `body` of each node that is heard within `patience`. It does so whatever the node's clock says: a link lets clocks
    /// differ by more than nodes' beacons do.
    ///
    /// - Parameter listening: where the node listens that asks; `nil` where none does. One on loopback asks its own machine only.
    /// - Throws: `NetworkInterfaceError`, an error of the system, or what `body` throws.
    package static func listen<Result>(
        _ settings: MulticastSettings, cluster: String, security: TransportSecurity, listening: NodeAddress? = nil,
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        _ body: (AsyncStream<Sighting>) async throws -> Result
    ) async throws -> Result {
        let interfaces = try NetworkInterface.all()
        if let missing = BeaconPath.missing(settings.interfaces, interfaces) { throw missing }
        let seal = BeaconSeal(cluster: cluster, security: security)
        let (sightings, continuation) = AsyncStream.makeStream(
            of: Sighting.self, bufferingPolicy: .bufferingOldest(2 * limit))
        let loop = group.next()
        let told = NIOLockedValueBox(Told())
        let sockets = BeaconSockets(settings, loop: loop) { envelope in
            guard let heard = sighting(envelope, seal), told.withLockedValue({ $0.isNew(heard) }) else { return }
            continuation.yield(heard.sighting)
        }
        try await sockets.bind()
        for path in BeaconPath.plan(interfaces, named: settings.interfaces, listening: listening) {
            // A path that cannot be opened is one way less to be heard by.
            try? await sockets.open(path)
        }
        let node = NodeID.random()
        let sequence = NIOLockedValueBox<UInt64>(0)
        let ask: @Sendable () -> Void = {
            sockets.send { _ in
                let number = sequence.withLockedValue { sequence in
                    sequence += 1
                    return sequence
                }
                return seal.question(from: node, sequence: number)
            }
        }
        ask()
        // A datagram may be lost.
        let timers = [
            loop.scheduleTask(in: TimeAmount(patience / 2), ask),
            loop.scheduleTask(in: TimeAmount(patience)) { continuation.finish() },
        ]
        do {
            let result = try await body(sightings)
            for timer in timers { timer.cancel() }
            await sockets.close()
            return result
        } catch {
            for timer in timers { timer.cancel() }
            await sockets.close()
            throw error
        }
    }

    /// What a datagram tells of a node; `nil` where it is none's.
    private static func sighting(_ envelope: AddressedEnvelope<ByteBuffer>, _ seal: BeaconSeal) -> (
        node: NodeID, sighting: Sighting
    )? {
        let source = envelope.remoteAddress
        do {
            let beacon = try seal.open(envelope.data)
            let address = seal.isSecret ? beacon.addresses(from: source).first : beacon.addressOfSource(source)
            guard beacon.kind != .goodbye, let address else { return nil }
            return (beacon.node, .node(address))
        } catch {
            guard case .foreign = error, let beacon = BeaconSeal.unverified(envelope.data), beacon.kind != .goodbye,
                // A sender that only asks is not a node.
                beacon.port > 0, let address = NodeAddress(source)?.with(port: Int(beacon.port))
            else { return nil }
            return (beacon.node, .stranger(Stranger(fault: error, address: "\(address)")))
        }
    }
}
