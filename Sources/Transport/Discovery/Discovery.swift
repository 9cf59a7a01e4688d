import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Sends this node's beacons and listens for those of others, on every suitable interface.
///
/// One socket receives, bound to the group's own address so that no unicast reaches it, and shares its port with the
/// other nodes of the machine. One socket an interface sends, from a port of its own, so that a datagram's source
/// address is the one to dial.
final class Discovery: Sendable {
    private let settings: MulticastSettings
    /// Let go at the shutdown, when the system lets go of this.
    private let system: ClusterSystem
    private let cluster: UInt64

    private struct State {
        var receiver: (any Channel)?
        var senders: [any Channel] = []
        var schedule = BeaconSchedule()
        /// The one timer under way; a newer wait replaces it only if it ends sooner.
        var timer: (due: Duration, task: Scheduled<Void>)?
        var isStopped = false
    }

    private let state = NIOLockedValueBox(State())

    init(settings: MulticastSettings, system: ClusterSystem) {
        self.settings = settings
        self.system = system
        cluster = Beacon.clusterID(system.settings.cluster)
    }

    func start() async throws {
        let interfaces = try NetworkInterface.suitable(settings.interfaces, listening: system.listeningAddress)
        let receiver = try await MulticastSocket.receiver(settings, on: interfaces, group: system.eventLoopGroup) {
            [weak self] envelope in self?.received(envelope)
        }
        var senders: [any Channel] = []
        for interface in interfaces {
            do {
                senders.append(try await MulticastSocket.sender(settings, on: interface, group: system.eventLoopGroup))
            } catch {
                system.logger.warning(
                    "cannot send beacons", metadata: ["interface": "\(interface.device.name)", "error": "\(error)"])
            }
        }
        state.withLockedValue {
            $0.receiver = receiver
            $0.senders = senders
        }
        advance(.started)
    }

    func stop() async {
        send(.goodbye)
        let channels = state.withLockedValue { state in
            state.isStopped = true
            state.timer?.task.cancel()
            return state.senders + [state.receiver].compactMap(\.self)
        }
        for channel in channels { try? await channel.close().get() }
    }

    private func advance(_ event: BeaconSchedule.Event) {
        let now = system.now
        let kind: Beacon.Kind? = state.withLockedValue { state in
            guard !state.isStopped else { return nil }
            let step = state.schedule.handle(event, now: now)
            let due = now + step.pause
            if let timer = state.timer, timer.due <= due, timer.due > now { return step.send }
            state.timer?.task.cancel()
            let task = system.eventLoopGroup.next().scheduleTask(in: TimeAmount(step.pause)) { [weak self] in
                guard let self else { return }
                self.advance(.due)
            }
            state.timer = (due, task)
            return step.send
        }
        if let kind { send(kind) }
    }

    private func send(_ kind: Beacon.Kind) {
        guard let group = try? SocketAddress(ipAddress: settings.group, port: settings.port) else { return }
        let bytes = beacon(kind, system).encoded()
        for sender in state.withLockedValue({ $0.senders }) {
            // A failed beacon is one lost datagram; the next is seconds away.
            sender.writeAndFlush(AddressedEnvelope(remoteAddress: group, data: bytes), promise: nil)
        }
    }

    private func beacon(_ kind: Beacon.Kind, _ system: ClusterSystem) -> Beacon {
        var host = ""
        var port = 0
        if case .hostPort(let advertisedHost, let advertisedPort) = system.advertised {
            port = advertisedPort
            if system.advertised?.isWildcard == false { host = advertisedHost }
        }
        return Beacon(
            kind, cluster: system.settings.cluster, node: system.node, validity: 30,
            port: UInt16(clamping: port), host: host, name: system.name)
    }

    private func received(_ envelope: AddressedEnvelope<ByteBuffer>) {
        // What is no beacon of this cluster is dropped without a word: anybody may send to the group.
        guard let beacon = Beacon(envelope.data), beacon.cluster == cluster, beacon.node != system.node
        else { return }
        if beacon.kind == .solicit { advance(.solicited) }
        if beacon.kind != .goodbye, let address = beacon.address(from: envelope.remoteAddress) {
            system.suggest(address, node: beacon.node)
        }
    }
}
