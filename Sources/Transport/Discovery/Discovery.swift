import Glibc
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Sends this node's beacons and listens for those of others, on every suitable interface, including those that come later.
final class Discovery: Sendable {
    /// How long to wait before a look at the interfaces and addresses: after the kernel has reported a change, which is seldom the
    /// only one; while one of them cannot be used; and where the kernel has reported nothing.
    static let changePause = Duration.milliseconds(100)
    static let retryPause = Duration.seconds(1)
    static let quietPause = Duration.seconds(60)
    /// How often to join the groups anew. Switches forget memberships that nobody reports after 260 s (RFC 3376, 8.4).
    static let rejoinInterval = TimeAmount.seconds(110)

    private let settings: MulticastSettings
    /// The node. This reference ends at the shutdown, when the node lets go of this object.
    private let owner: any DiscoveryOwner
    private let environment: DiscoveryEnvironment
    private let seal: BeaconSeal
    private let loop: any EventLoop

    private struct State {
        var sockets: BeaconSockets?
        var schedule = BeaconSchedule()
        var filter: BeaconFilter
        /// For the questions of persons, who may say that they are any node: what they say must not count against that node's own
        /// beacons.
        var questions: BeaconFilter
        var reports: BeaconReports
        var unsealed = UnsealedBeacons()
        var sequence: UInt64 = 0
        var lastAsked: Duration?
        /// The one timer under way; a newer wait replaces it only if it ends sooner.
        var timer: (due: Duration, task: Scheduled<Void>)?
        /// The next look at the interfaces. There is none while a look is under way.
        var look: (due: Duration, task: Scheduled<Void>)?
        var isLooking = false
        /// Whether something has changed during the look.
        var looksAgain = false
        var interfaceWatch: InterfaceWatch?
        var rejoining: RepeatedTask?
        /// Paths that there were at the last look.
        var wanted: Set<BeaconPath> = []
        /// Paths that cannot be opened.
        var troubles = PathTroubles()
        var isStopped = false
    }

    private let state: NIOLockedValueBox<State>

    init(settings: MulticastSettings, owner: any DiscoveryOwner, environment: DiscoveryEnvironment) {
        self.settings = settings
        self.owner = owner
        self.environment = environment
        loop = environment.loop
        seal = BeaconSeal(cluster: environment.cluster, security: environment.security)
        state = NIOLockedValueBox(
            State(
                filter: BeaconFilter(own: environment.node), questions: BeaconFilter(own: environment.node),
                reports: BeaconReports(own: seal.cluster)))
    }

    func start() async throws {
        let watch = InterfaceWatch { [weak self] in self?.look(after: Discovery.changePause) }
        let interfaces = try NetworkInterface.all()
        if let missing = BeaconPath.missing(settings.interfaces, interfaces) { throw missing }
        let sockets = BeaconSockets(settings, loop: loop) { [weak self] envelope in self?.received(envelope) }
        try await sockets.bind()
        let isStopped = state.withLockedValue { state in
            state.sockets = sockets
            if !state.isStopped { (state.interfaceWatch, state.isLooking) = (watch, true) }
            return state.isStopped
        }
        if isStopped { return await sockets.close() }
        _ = await adopt(interfaces, sockets)
        advance(.started)
        hasLooked(sockets)
        rejoin(sockets)
    }

    private func rejoin(_ sockets: BeaconSockets) {
        let interval = Discovery.rejoinInterval
        let task = loop.scheduleRepeatedAsyncTask(initialDelay: interval, delay: interval) { [weak self, loop] _ in
            guard self != nil else { return loop.makeSucceededVoidFuture() }
            return loop.makeFutureWithTask { await sockets.rejoin() }
        }
        let isStopped = state.withLockedValue { state in
            state.rejoining = task
            return state.isStopped
        }
        if isStopped { task.cancel() }
    }

    // MARK: - Interfaces

    /// Looks at the interfaces after the pause, or sooner where a look is due sooner already.
    private func look(after pause: Duration) {
        let due = environment.now() + pause
        state.withLockedValue { state in
            guard !state.isStopped else { return }
            if state.isLooking {
                state.looksAgain = true
                return
            }
            if let look = state.look, look.due <= due { return }
            state.look?.task.cancel()
            let task = loop.scheduleTask(in: TimeAmount(pause)) { [weak self, loop] in
                guard let self else { return }
                _ = loop.makeFutureWithTask { await self.look() }
            }
            state.look = (due, task)
        }
    }

    /// Looks which interfaces and addresses there are now, and follows them.
    private func look() async {
        let sockets = state.withLockedValue { state -> BeaconSockets? in
            state.look = nil
            guard !state.isStopped, !state.isLooking else { return nil }
            state.isLooking = true
            return state.sockets
        }
        guard let sockets else { return }
        let interfaces = try? NetworkInterface.all()
        if let interfaces, await adopt(interfaces, sockets) { advance(.changed) }
        hasLooked(sockets, interfaces != nil)
    }

    private func hasLooked(_ sockets: BeaconSockets, _ hasSeen: Bool = true) {
        let pause = state.withLockedValue { state in
            defer { (state.isLooking, state.looksAgain) = (false, false) }
            if state.looksAgain { return Discovery.changePause }
            let isQuiet = hasSeen && state.interfaceWatch != nil && state.wanted == sockets.paths
            return isQuiet ? Discovery.quietPause : Discovery.retryPause
        }
        look(after: pause)
    }

    /// The paths that there should be.
    private func paths(_ interfaces: [NetworkInterface]) -> Set<BeaconPath> {
        BeaconPath.plan(interfaces, named: settings.interfaces, listening: owner.listeningAddress)
            .filter { $0.address.isIPv4 || settings.group6 != nil }
    }

    /// Opens and closes paths until they are those that there should be.
    ///
    /// - Returns: whether any has changed.
    private func adopt(_ interfaces: [NetworkInterface], _ sockets: BeaconSockets) async -> Bool {
        let wanted = paths(interfaces)
        let present = sockets.paths
        // These are the paths that there should have been, not those that are open: a path whose address has gone may have failed
        // to send before.
        let before = state.withLockedValue { state in
            defer { state.wanted = wanted }
            return state.wanted
        }
        for path in before.subtracting(wanted) {
            state.withLockedValue { $0.troubles.opened(path) }
            environment.logger.info("an interface has gone", metadata: ["interface": "\(path)"])
            await sockets.close(path)
            owner.report(.lost(path.address))
        }
        for path in wanted.subtracting(present) {
            do {
                try await sockets.open(path)
                environment.logger.debug("beacons go by an interface", metadata: ["interface": "\(path)"])
                state.withLockedValue { $0.troubles.opened(path) }
            } catch {
                // The path is tried again at the next look.
                let code = (error as? IOError)?.errnoCode
                guard code != ENOBUFS else {
                    if state.withLockedValue({ $0.troubles.reachedLimit() }) { warnOfLimit(path) }
                    continue
                }
                let (now, isAbsent) = (environment.now(), code == EADDRNOTAVAIL)
                if state.withLockedValue({ $0.troubles.failed(path, isAbsent: isAbsent, now: now) }) {
                    environment.logger.warning(
                        "cannot send or hear beacons", metadata: ["interface": "\(path)", "error": "\(error)"])
                }
            }
        }
        return sockets.paths != present
    }

    private func warnOfLimit(_ path: BeaconPath) {
        environment.logger.warning(
            "beacons are not heard on all interfaces: the kernel lets a socket join no more groups; raise net.ipv4.igmp_max_memberships (sysctl), or name the interfaces to use (--interface)",
            metadata: ["interface": "\(path)"])
    }

    func stop() async {
        send(.goodbye)
        let sockets = state.withLockedValue { state in
            state.isStopped = true
            state.timer?.task.cancel()
            state.look?.task.cancel()
            state.rejoining?.cancel()
            state.interfaceWatch = nil
            return state.sockets
        }
        await sockets?.close()
    }

    // MARK: - Sending

    private func advance(_ event: BeaconSchedule.Event) {
        let now = environment.now()
        let members = owner.linkCount
        let kind: Beacon.Kind? = state.withLockedValue { state in
            guard !state.isStopped else { return nil }
            let step = state.schedule.handle(event, now: now, members: members)
            let due = now + step.pause
            if let timer = state.timer, timer.due <= due, timer.due > now { return step.send }
            state.timer?.task.cancel()
            let task = loop.scheduleTask(in: TimeAmount(step.pause)) { [weak self] in
                guard let self else { return }
                self.advance(.due)
            }
            state.timer = (due, task)
            return step.send
        }
        if let kind { send(kind) }
    }

    /// Asks which nodes are there, because one of them is silent. One question serves several nodes that are silent at the same
    /// time. Where another node has just asked, there is no need to: the answers come to all.
    func ask() {
        let now = environment.now()
        let isDue = state.withLockedValue { state in
            guard !state.isStopped, state.lastAsked.map({ now - $0 >= BeaconSchedule.answerInterval }) != false else {
                return false
            }
            state.lastAsked = now
            return true
        }
        if isDue { send(.solicit) }
    }

    private func send(_ kind: Beacon.Kind) {
        guard let sockets = state.withLockedValue({ $0.sockets }) else { return }
        let places = BeaconPlaces(sockets.paths, listening: owner.listeningAddress)
        // A path that fails is closed; it is opened again at the next look.
        sockets.send { path in
            seal.seal(beacon(kind, places.by(path)))
        } failed: { [weak self] _, _ in
            self?.look(after: Discovery.retryPause)
        }
    }

    private func beacon(_ kind: Beacon.Kind, _ places: [Beacon.Place]) -> Beacon {
        var host = ""
        var port = 0
        if let advertised = owner.advertised, case .hostPort(let advertisedHost, let advertisedPort) = advertised {
            port = advertisedPort
            if !advertised.isWildcard { host = advertisedHost }
        }
        let sequence = state.withLockedValue { state in
            state.sequence += 1
            return state.sequence
        }
        return Beacon(
            kind, cluster: seal.cluster, node: environment.node, sequence: sequence, sent: WallClock.milliseconds,
            validity: Beacon.standardValidity, port: UInt16(clamping: port), host: host, name: environment.name,
            places: places)
    }

    // MARK: - Hearing

    private func received(_ envelope: AddressedEnvelope<ByteBuffer>) {
        let beacon: Beacon
        do {
            beacon = try seal.open(envelope.data)
        } catch {
            if case .foreign = error, BeaconSeal.unverified(envelope.data)?.isOfCommand == true {
                environment.metrics.heardBeacon(error)
                return answerNewcomer()
            }
            return dropped(error, beacon: nil, envelope.remoteAddress)
        }
        let (now, source) = (environment.now(), envelope.remoteAddress)
        if seal.isOfPerson(beacon) {
            let fault = state.withLockedValue { $0.questions.fault(beacon, now: WallClock.milliseconds) }
            if let fault { return dropped(fault, beacon: beacon, source) }
            environment.metrics.heardBeacon(nil)
            return advance(.solicited)
        }
        let fault = state.withLockedValue { state -> BeaconFault? in
            guard seal.isSecret || state.unsealed.admits(source, now: now) else { return .crowded }
            let fault = state.filter.fault(beacon, now: WallClock.milliseconds)
            if fault == nil { state.reports.counted(beacon.node) }
            return fault
        }
        if let fault { return dropped(fault, beacon: beacon, source) }
        environment.metrics.heardBeacon(nil)
        let addresses =
            seal.isSecret ? beacon.addresses(from: source) : [beacon.addressOfSource(source)].compactMap(\.self)
        if beacon.kind != .goodbye { owner.report(.heard(beacon.node, at: addresses)) }
        switch beacon.kind {
        case .goodbye: return owner.report(.left(beacon.node, name: beacon.name))
        case .solicit:
            if isAnswered(beacon) { advance(.solicited) }
            if owner.isLinked(beacon.node) { state.withLockedValue { $0.lastAsked = environment.now() } }
        case .announce: break
        }
        guard seal.isSecret || state.withLockedValue({ $0.unsealed.suggests(beacon, from: source, now: now) }) else {
            return
        }
        owner.report(.suggested(beacon.node, at: addresses))
    }

    /// Answers a command with another key or another time, so that it does not take this network for one without nodes.
    private func answerNewcomer() {
        let members = owner.linkCount
        if state.withLockedValue({ $0.schedule.answersNewcomer(members: members) }) { advance(.solicited) }
    }

    /// Whether a question is answered: that of a command or a member always, that of a newcomer perhaps.
    private func isAnswered(_ question: Beacon) -> Bool {
        if question.isOfCommand || owner.isLinked(question.node) { return true }
        let members = owner.linkCount
        return state.withLockedValue { $0.schedule.answersNewcomer(members: members) }
    }

    /// Drops a datagram, with a log line only now and then, because anybody may send to the group.
    private func dropped(_ fault: BeaconFault, beacon: Beacon?, _ source: SocketAddress) {
        environment.metrics.heardBeacon(fault)
        // A link lets clocks differ by much more, and where they differ by too much for it, says so.
        if case .stale = fault, beacon?.isOfCommand == true { answerNewcomer() }
        let (from, now) = (source.ipAddress ?? "", environment.now())
        guard let line = state.withLockedValue({ $0.reports.line(fault, beacon: beacon, from: from, now: now) }) else {
            return
        }
        environment.logger.notice("\(line)", metadata: ["from": "\(from)"])
    }
}
