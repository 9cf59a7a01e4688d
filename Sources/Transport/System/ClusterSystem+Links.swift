import Logging
import NIOCore
import Synchronization

/// What the handlers of its connections ask the system and tell it: which links it has, and what becomes known of their peers.
extension ClusterSystem: LinkOwner {
    func makeHello() -> Hello {
        var hello = Hello(
            cluster: settings.cluster, node: node, name: name, role: settings.role, advertised: advertised,
            limits: settings.limits, dial: lastDial.add(1, ordering: .relaxed).newValue, version: settings.version,
            arithmetic: settings.arithmetic,
            isDraining: isDraining.load(ordering: .sequentiallyConsistent) ? true : nil)
        (hello.minimumVersion, hello.maximumVersion) = (settings.protocols.lowerBound, settings.protocols.upperBound)
        return hello
    }

    func callTaker(of link: Link) -> any CallTaker { PeerCalls(link, self) }

    /// The address that others are told to dial: the one that was set, or else the listening address. Where that stands for all
    /// addresses, the others put in the address at which they see this node.
    package var advertised: NodeAddress? {
        if let advertise = settings.advertise {
            if case .hostPort(_, 0) = advertise, case .hostPort(_, let port) = listeningAddress {
                return advertise.with(port: port)
            }
            return advertise
        }
        // A Unix socket concerns only those who were told its path.
        guard settings.role == .node, case .hostPort = listeningAddress else { return nil }
        return listeningAddress
    }

    /// Why a link to this peer is not wanted now.
    private func objection(to link: Link, in state: State) -> Refusal? {
        let peer = link.peer
        if state.stage == .stopping { return Refusal(.leaving, "\(name) is shutting down") }
        if case .person(let certificate)? = link.identity, state.revocations.revoke(certificate) {
            return Refusal(.identity, "the credential of \(certificate.person) has been revoked")
        }
        if let old = state.links.current[peer.node],
            !LinkChoice.newReplacesOld(own: node, peer: peer.node, old: old.candidate, new: link.candidate)
        {
            let dialled = link.candidate.dialledHere ? peer.node : node
            return Refusal(.duplicate, "\(name) has a link to \(peer.name) already", by: dialled)
        }
        if settings.isLoopbackOnly, let address = link.remoteAddress, !address.isLoopback {
            return Refusal(.role, "\(name) links to its own machine only, and \(address) is another")
        }
        return nil
    }

    /// Why a link to a process of this machine is not wanted, where nothing else tells whose process it is. A peer with a link may
    /// do what this node's user may do, whichever side dialled.
    private func objection(toUserOf link: Link) -> Refusal? {
        guard settings.isLoopbackOnly, !settings.security.isOn, let owner = link.peerSocketOwner else { return nil }
        switch owner {
        case .user(let user) where settings.servedUsers.contains(user): return nil
        case .unknown:
            return Refusal(
                .role,
                "without a key, \(name) serves its own user only, and this kernel does not tell whose process it is; give both the same key (--cluster-key)"
            )
        case .user, .nobody:
            return Refusal(
                .role, "without a key, \(name) serves its own user only; give both the same key (--cluster-key)")
        }
    }

    func admit(_ link: Link, on channel: any Channel) -> Refusal? {
        let peer = link.peer
        if let refusal = objection(toUserOf: link) { return refusal }
        // The dialler is asked first, because it has a lock of its own.
        let found = found(link, state.withLockedValue { $0.dialler })
        // The membership changes under the same lock as the links. Otherwise the end of an old link and the start of a new one
        // could be published in the wrong order.
        let (refusal, replaced): (Refusal?, Link?) = state.withLockedValue { state in
            if let objection = objection(to: link, in: state) { return (objection, nil) }
            let old = state.links.add(link, to: peer.node)
            if peer.role == .node {
                let member = member(by: link, found: found)
                feed.update { $0.linked(member) }
            }
            return (nil, old)
        }
        if let refusal { return refusal }
        widen(channel)
        noteLinks()
        // Calls that are under way on the other link may finish there.
        replaced?.giveWay()
        superseded(by: link)
        if peer.role == .node { introduce(link) }
        // The drain may have begun since the hello was made.
        if isDraining.load(ordering: .sequentiallyConsistent) { link.send(ClusterSystem.draining(true)) }
        logger.debug("linked", metadata: ["peer": "\(peer.name)", "role": "\(peer.role.rawValue)"])
        return nil
    }

    private func noteLinks() {
        let count = state.withLockedValue { $0.links.current.count }
        linksNow.store(count, ordering: .relaxed)
        metrics.linked(count: count)
    }

    var linkCount: Int { linksNow.load(ordering: .relaxed) }

    /// Doubts an older node at the address of a new one: the older node has been restarted, or two nodes were told to advertise the
    /// same address. The older node gets a short time to show that it lives, instead of the usual one.
    private func superseded(by link: Link) {
        guard link.peer.role == .node, let address = address(of: link) else { return }
        let others = state.withLockedValue { Array($0.links.current.values) }
        for other in others where other !== link && other.peer.node != link.peer.node {
            if other.peer.role == .node, self.address(of: other) == address { other.doubt() }
        }
    }

    func report(_ report: LinkReport, of link: Link) {
        switch report {
        case .ended: remove(link)
        case .suspected: suspect(link)
        case .revived: revive(link)
        case .comparedClocks(let offset, let roundTrip): warn(ofClock: link, offset: offset, within: roundTrip)
        case .draining(let isDraining): note(draining: isDraining, of: link)
        case .introductions(let body): take(introductions: body, of: link)
        }
    }

    private func remove(_ link: Link) {
        let peer = link.peer
        let wasCurrent = state.withLockedValue { state in
            guard state.links.remove(link, to: peer.node) else { return false }
            if peer.role == .node { feed.update { $0.unlinked(peer.node, saidGoodbye: link.isLeaving) } }
            return true
        }
        noteLinks()
        guard wasCurrent, peer.role == .node else { return }
        let dialler = state.withLockedValue { $0.stage == .stopping ? nil : $0.dialler }
        dialler?.lost(peer.node, saidGoodbye: link.isLeaving)
    }

    private func suspect(_ link: Link) {
        let discovery = state.withLockedValue { state -> Discovery? in
            // A client sends no beacons.
            guard state.links.isCurrent(link, to: link.peer.node), link.peer.role == .node else { return nil }
            feed.update { $0.suspected(link.peer.node) }
            return state.discovery
        }
        // A node that is there answers within a tenth of a second.
        discovery?.ask()
    }

    private func revive(_ link: Link) {
        state.withLockedValue { state in
            guard state.links.isCurrent(link, to: link.peer.node) else { return }
            feed.update { $0.heard(link.peer.node) }
        }
    }

    private func note(draining: Bool, of link: Link) {
        let isCurrent = state.withLockedValue { $0.links.isCurrent(link, to: link.peer.node) }
        guard link.peer.role == .node, isCurrent else { return }
        feed.update { $0.draining(link.peer.node, draining) }
    }

    /// How far two clocks may differ without a warning. Beacons count for 30 s, and certificates begin an hour before they are
    /// made: clocks that differ by more than this are on their way to trouble with both.
    static let clockTolerance = Duration.seconds(10)

    private func warn(ofClock link: Link, offset: Duration, within roundTrip: Duration) {
        let gap = offset < .zero ? .zero - offset : offset
        guard gap > ClusterSystem.clockTolerance + roundTrip, isDue("clock", of: link.peer.name) else { return }
        logger.warning(
            "the clock of another node differs from this one's; do both machines set their clocks by NTP?",
            metadata: [
                "peer": "\(link.peer.name)", "ahead": "\(ClusterSystem.words(offset, own: settings.timeOfDay()))",
            ])
    }

    /// A clock before 1970 counts as one that has just reached it, so the two may differ by more than is known.
    static func words(_ offset: Duration, own: UInt64) -> String {
        let peer = Duration.milliseconds(Int64(clamping: own)) + offset
        let bound = own == 0 ? "at least " : peer <= clockTolerance ? "at most " : ""
        return "\(bound)\(offset.components.seconds) s"
    }

    func report(_ trouble: ConnectionTrouble, with peer: String) {
        switch trouble {
        case .refused(let reason):
            if isDue(reason, of: peer) {
                logger.notice("refused a connection", metadata: ["peer": "\(peer)", "reason": "\(reason)"])
            }
        case .broken(let reason):
            if isDue(reason, of: peer) {
                logger.warning(
                    "closed a connection that sent something that is not the protocol",
                    metadata: ["peer": "\(peer)", "reason": "\(reason)"])
            }
        case .unread: warn("closing a link whose peer does not read", of: peer)
        }
    }

    /// Whether this has not been logged for a day.
    private func isDue(_ text: String, of peer: String) -> Bool {
        let now = now
        return state.withLockedValue { $0.logged.isDue(text, of: peer, now: now) }
    }

    /// Logs an event that a peer can cause as often as it likes, and limits the lines.
    func warn(_ message: Logger.Message, of peer: String) {
        let now = now
        guard let leftOut = state.withLockedValue({ $0.logLimit.line("\(message)", of: peer, now: now) }) else {
            return
        }
        var metadata: Logger.Metadata = ["peer": "\(peer)"]
        if leftOut > 0 { metadata["left out"] = "\(leftOut) more like this" }
        logger.warning(message, metadata: metadata)
    }

    /// Where the other nodes reach the peer of this link.
    func address(of link: Link) -> NodeAddress? {
        guard let advertised = link.peer.advertised else { return nil }
        guard advertised.isWildcard, case .hostPort(_, let port) = advertised else { return advertised }
        return link.remoteAddress?.with(port: port)
    }

    // MARK: - Introductions

    /// Tells a newcomer which nodes this node knows, so that one reachable seed is enough: it then dials the others.
    private func introduce(_ newcomer: Link) {
        let introductions = Introduction.choose(
            members, heard: state.withLockedValue { $0.dialler }?.heard ?? [], for: newcomer.peer.node)
        if !introductions.isEmpty, let body = try? WireCoder.encode(introductions) {
            newcomer.send(Frame(.peers, body: body))
        }
    }

    private func take(introductions body: ByteBuffer, of link: Link) {
        guard link.peer.role == .node, let introductions = try? WireCoder.decode([Introduction].self, from: body)
        else { return }
        for introduction in introductions.prefix(Introduction.limit) {
            guard introduction.address.isDialable, !introduction.address.isWildcard, !introduction.address.isScoped
            else { continue }
            // Another machine's loopback is not ours, unless that machine is this one.
            if introduction.address.isLoopback, link.remoteAddress?.isLoopback != true { continue }
            suggest([introduction.address], node: introduction.node, by: .introduction)
        }
    }
}
