import Base
import SkyCore
import Transport

/// Everything that `skynode doctor` has seen, as a value; `findings` says what it means.
struct Examination {
    /// The node of this machine.
    enum OwnNode {
        case answers(NodeID, name: String, members: [Member])
        /// Nobody takes connections there.
        case absent
        /// Something takes connections there, but it is not a node of this cluster.
        case stranger(reason: String, cause: LinkCause, owners: [PortOwner])
    }

    /// The result of the look at multicast.
    enum Multicast {
        case off
        case survey(NetworkSurvey)
        /// The port of the group could not be used.
        case portTaken(reason: String, owners: [PortOwner])
    }

    /// An attempt to make a link to an address.
    struct Trial {
        var address: NodeAddress
        /// Whether `--join` names it.
        var isSeed: Bool
        /// The node that answered.
        var node: NodeID?
        var failure: String?
        /// What that comes from.
        var cause = LinkCause.unreachable
        /// Members that the node lists, where it was asked.
        var members: Set<NodeID>?
    }

    var protection: SecurityOptions.Protection
    /// Whose credential the key file is; `nil` where it is the cluster key.
    var person: Person?
    var address: NodeAddress
    var own: OwnNode
    var multicast: Multicast
    var settings: MulticastSettings
    var trials: [NodeAddress: Trial]
    var firewall: Firewall
    /// How long the command listened.
    var seconds: Int
    /// Where the copies of the own node's jobs are; `nil` where it does not say.
    var copies: Copies?
    /// The room of the own node's jobs; `nil` where it does not say.
    var room: Room?
    /// Why the own node cannot read its jobs on the disk; `nil` where it can.
    var storageFault: String?
    /// What this machine's kernel has for the confinement of workers; `nil` where nobody looked.
    var confinement: ConfinementSupport?
    /// Which of this machine's processors a node may use; `nil` where nobody looked.
    var processors: ProcessorShare?

    /// The copies of a node's jobs.
    struct Copies {
        var wanted: Int
        var states: [CopyState]
        /// How many copies of other nodes' jobs were damaged on this node since its start.
        var damaged = 0
    }

    /// How many bytes a node's jobs hold, and how many they may hold with what its disk has left.
    struct Room {
        var held: Int
        var limit: Int
    }

    private var port: Int {
        if case .hostPort(_, let port) = address { port } else { 0 }
    }

    private var ownNode: NodeID? {
        if case .answers(let node, _, _) = own { node } else { nil }
    }

    var findings: [Finding] {
        var findings = [protectionFinding, ownFinding] + confinementFindings + processorFindings
        switch multicast {
        case .off: findings.append(.note("multicast is off: nodes find each other by --join alone"))
        case .portTaken(let reason, let owners):
            findings.append(
                .problem(
                    "\(settings.group):\(settings.port) cannot be listened on (\(reason))"
                        + (owners.isEmpty ? "" : ": \(list(owners)) has the port"),
                    "stop that program, or give all nodes another group and port: --multicast"))
        case .survey(let survey): findings += surveyFindings(survey)
        }
        return findings + arithmeticFindings + copyFindings + seedFindings
    }

    /// Which members measure otherwise than this machine's node, and so get no part of its scans.
    private var arithmeticFindings: [Finding] {
        guard case .answers(let node, let name, let members) = own,
            let here = members.first(where: { $0.node == node })?.arithmetic.map({ Arithmetic($0) })
        else { return [] }
        let others = members.filter { $0.node != node }.sorted { ($0.name, $0.node) < ($1.name, $1.node) }
        let unlike = others.filter { $0.arithmetic != here.text }
        guard !unlike.isEmpty else {
            return others.isEmpty ? [] : [.ok("all nodes measure alike: \(here.text)")]
        }
        return unlike.map { member in
            let other = member.arithmetic.map { PrintableText.of(Arithmetic($0).difference(from: here)) }
            return .note(
                "\(member.name) \(other.map { "measures otherwise (\($0))" } ?? "does not say how it measures"): "
                    + "it and \(name) share no scan",
                "install one version of the package on both; processors of two kinds stay apart")
        }
    }

    private var copyFindings: [Finding] {
        guard case .answers(_, let name, let members) = own else { return [] }
        if let storageFault { return [.problem("\(name) cannot read its jobs: \(storageFault)")] }
        guard let copies else { return roomFindings(name) }
        return roomFindings(name) + damageFindings(copies, name) + copyFindings(copies, name, members)
    }

    /// The copies that jobs wait for because there is no room for more.
    private var fullCopies: [CopyState] { (copies?.states ?? []).filter { $0.hasVote && $0.isFull == true } }

    /// Whether jobs wait because the own disk, or one with copies, has no room for more.
    private func roomFindings(_ name: String) -> [Finding] {
        var findings: [Finding] = []
        if let room, room.held > room.limit {
            let size = SizeArgument.text
            findings.append(
                .problem(
                    "\(name) has no room for jobs: they hold \(size(room.held)), and may hold \(size(room.limit)) with what "
                        + "is left on its disk", "delete jobs, make room on that disk, or raise --data-limit"))
        }
        if !fullCopies.isEmpty {
            findings.append(
                .problem(
                    "\(name)'s jobs may wait for copies of them: \(fullCopies.map(CopyWords.one).joined(separator: ", "))",
                    "make room on the disks there, or raise --data-limit there; `skynode jobs why ID` says more"))
        }
        return findings
    }

    private func damageFindings(_ copies: Copies, _ name: String) -> [Finding] {
        let disks =
            (copies.damaged > 0 ? [name] : [])
            + copies.states.filter { $0.wasDamaged == true }.compactMap { $0.node.map(PrintableText.of) }
        return disks.map {
            .problem(
                "a copy of jobs on \($0) was damaged, and is made anew", "look at its disk: `smartctl -a`, `dmesg`")
        }
    }

    private func copyFindings(_ copies: Copies, _ name: String, _ members: [Member]) -> [Finding] {
        let others = members.count - 1
        guard copies.wanted > 0 else {
            return [
                .note("copies are off: if this machine is lost, \(name)'s jobs are", "`copies: 2` in its configuration")
            ]
        }
        let kept = copies.states.filter(\.isKept)
        let list = kept.map { CopyWords.one($0) }.joined(separator: ", ")
        if kept.count(where: \.hasVote) >= min(2, copies.wanted), kept.count >= copies.wanted {
            // Where one of them has no room, that has been said.
            return fullCopies.isEmpty ? [.ok("copies of \(name)'s jobs: \(list)")] : []
        }
        let words =
            kept.isEmpty ? "no other node keeps a copy of \(name)'s jobs" : "copies of \(name)'s jobs: \(list)"
        guard others >= 2 else {
            let keeper = kept.first.flatMap { copy in members.first { $0.name == copy.node } }
            return [
                .note(
                    words
                        + (kept.isEmpty
                            ? ""
                            : "; if it is lost, `\(PersonsWord.adopt(name, at: keeper?.address))` there takes them over"),
                    "with three nodes, the others take the jobs of a lost one over by themselves")
            ]
        }
        let hindered = copies.states.filter { !$0.isKept && $0.isFull == true }.map { CopyWords.one($0) }
        return [
            .problem(
                words + ", though \(others) others are here, and there are to be \(copies.wanted)"
                    + (hindered.isEmpty ? "" : ": " + hindered.joined(separator: ", ")),
                "a node that has just begun needs some seconds; those with a full disk or `copies: 0` keep none")
        ]
    }

    private var protectionFinding: Finding {
        switch protection {
        case .key(let file): .ok(person.map { "credential of \($0), \(file)" } ?? "cluster key \(file)")
        case .certificates: .ok("certificates of an own PKI")
        case .insecure: .note("--insecure: links are neither encrypted nor authenticated")
        case .none:
            .note(
                "no key: nodes keep to their own machine, and see none of others", SecurityOptions.advice)
        }
    }

    private var confinementFindings: [Finding] {
        guard let confinement else { return [] }
        let gaps = confinement.gaps
        guard !gaps.isEmpty else {
            return [.ok("workers are confined: Landlock of version \(confinement.landlock), a filter of system calls")]
        }
        return gaps.map {
            .note($0, "Linux 5.13 and later have both, where they are built in and no container denies them")
        }
    }

    private var processorFindings: [Finding] {
        guard let processors else { return [] }
        let count = processors.count
        let words = "a node that is started from here has \(count) \(count == 1 ? "slot" : "slots")"
        guard let limit = processors.limit() else { return [.ok("\(words), one for each processor")] }
        return [.note("\(words), and this machine \(ProcessorShare.onlineProcessors) processors: \(limit)")]
    }

    private var ownFinding: Finding {
        switch own {
        case .answers(let node, let name, let members):
            .ok("node \(name) (\(node)) answers at \(address) and lists \(max(0, members.count - 1)) others")
        case .absent:
            .note("no node runs at \(address)", "skynode serve starts one; --node names another address")
        case .stranger(let reason, .unreachable, let owners) where owners.isEmpty:
            .problem("nothing answers at \(address): \(reason)", LinkCause.unreachable.advice(person))
        case .stranger(let reason, let cause, let owners):
            .problem(
                "what answers at \(address) is no node that this command can use: \(reason)"
                    + (owners.isEmpty ? "" : "; the port belongs to \(list(owners))"), cause.advice(person))
        }
    }

    private func list(_ owners: [PortOwner]) -> String { owners.map(\.description).joined(separator: ", ") }

    // MARK: - Multicast

    private func surveyFindings(_ survey: NetworkSurvey) -> [Finding] {
        var findings = wayFindings(survey)
        let others = survey.neighbours.filter { $0.key != ownNode }.sorted {
            ($0.value.name, $0.key) < ($1.value.name, $1.key)
        }
        for (node, neighbour) in others { findings += neighbourFindings(node, neighbour, survey) }
        findings += strangerFindings(survey)
        findings += unheardFindings(survey)
        if protection != .none, others.isEmpty {
            // Where nodes with another key are heard, the network lets them through.
            let hasStrangers = survey.strangers.contains { if case .foreign = $0.fault { true } else { false } }
            let advice =
                "where there are some: have they this key, is their firewall open, does the switch or access point pass "
                + "multicast (IGMP snooping, client isolation)? --join HOST:PORT does without multicast"
            findings.append(.note("no other node was heard in \(seconds) s", hasStrangers ? nil : advice))
        }
        return findings
    }

    private func wayFindings(_ survey: NetworkSurvey) -> [Finding] {
        if survey.ways.isEmpty {
            return [
                .problem(
                    "no interface has an address to send multicast from", "is the network up? --interface names one")
            ]
        }
        let ways = survey.ways.sorted { ($0.key.index, $0.key.description) < ($1.key.index, $1.key.description) }
        return ways.map { path, way in
            if let failure = way.failure {
                return .problem(
                    "\(path.interface), \(path.address): cannot send or hear multicast (\(failure))",
                    failure.contains("Operation not permitted")
                        ? firewall.advice(udp: settings.port, tcp: port) : "--interface can leave it out")
            }
            return way.isHeard
                ? .ok("\(path.interface), \(path.address): sends and hears multicast")
                : .problem(
                    "\(path.interface), \(path.address): what is sent to the group does not come back in",
                    firewall.advice(udp: settings.port, tcp: port))
        }
    }

    private func neighbourFindings(
        _ node: NodeID, _ neighbour: NetworkSurvey.Neighbour, _ survey: NetworkSurvey
    ) -> [Finding] {
        let sources = neighbour.sources.map(\.description).sorted().joined(separator: ", ")
        let name = "\(neighbour.name) (\(node), from \(sources))"
        // What it answered before, and whether it can be reached now, says nothing.
        guard !neighbour.hasLeft else { return [.note("\(name) has said goodbye: it is stopping")] }
        let (clock, validity) = (Double(neighbour.clock.magnitude) / 1000, Double(NetworkSurvey.validity))
        var findings: [Finding] = []
        if neighbour.answers {
            findings.append(.ok("\(name) is heard, and answers"))
        } else if clock > validity {
            findings.append(.note("\(name) is heard, and does not answer: its clock and this one differ by too much"))
        } else {
            findings.append(
                .problem(
                    "\(name) is heard, and does not answer \(survey.questions) questions: it does not hear this machine",
                    "look at its firewall, and run skynode doctor there"))
        }
        if clock >= 2 {
            let text =
                "the clock of \(neighbour.name) is \(Int(clock)) s \(neighbour.clock > 0 ? "ahead of" : "behind") this one's"
            findings.append(
                clock > validity
                    ? .problem(
                        text + ": beacons that differ by more than \(Int(validity)) s do not count", "set both by NTP")
                    : .note(text, "set both by NTP"))
        }
        return findings + reachFindings(node, neighbour)
    }

    private func reachFindings(_ node: NodeID, _ neighbour: NetworkSurvey.Neighbour) -> [Finding] {
        let tried = neighbour.addresses.compactMap { trials[$0] }
        let inVain = tried.filter { $0.failure != nil }
        let list = inVain.map { "\($0.address) (\($0.failure ?? ""))" }.joined(separator: ", ")
        if neighbour.addresses.isEmpty {
            return [.problem("\(neighbour.name) tells of no address that can be reached", "start it with --advertise")]
        }
        if !tried.isEmpty, inVain.count == tried.count {
            // A node that answers at one of its addresses has said why. A firewall is to blame only where none does.
            let told = inVain.map(\.cause).first { $0 != .unreachable }
            return [
                .problem(
                    "\(neighbour.name) \(told == nil ? "cannot be reached" : "makes no link"): \(list)",
                    told.map { $0.advice(person) }
                        ?? "its firewall has to let in TCP; behind NAT, start it with --advertise")
            ]
        }
        var findings: [Finding] = []
        if !inVain.isEmpty {
            findings.append(.note("\(neighbour.name) tells of addresses where it is not reached from here: \(list)"))
        }
        if case .answers(let own, let ownName, let members) = own {
            if !members.contains(where: { $0.node == node }) {
                findings.append(
                    .problem(
                        "\(ownName) has no link to \(neighbour.name), which can be reached",
                        "see its log; it may be new"))
            }
            if tried.contains(where: { $0.members?.contains(own) == false }) {
                findings.append(.problem("\(neighbour.name) does not list \(ownName)", "see the logs of both"))
            }
        }
        return findings
    }

    /// Members that were not heard though they should have been.
    private func unheardFindings(_ survey: NetworkSurvey) -> [Finding] {
        guard case .answers(let own, _, let members) = own else { return [] }
        return members.filter { $0.node != own && survey.neighbours[$0.node] == nil }.map { member in
            .note(
                "\(member.name) (\(member.node)\(member.address.map { ", \($0)" } ?? "")) is linked, and not heard by multicast",
                "as it is behind a router, or where multicast does not pass")
        }
    }

    private func strangerFindings(_ survey: NetworkSurvey) -> [Finding] {
        let faults = Dictionary(grouping: survey.strangers, by: \.fault).sorted { $0.key.label < $1.key.label }
        return faults.compactMap { fault, strangers in
            let sources = strangers.map(\.source).sorted().joined(separator: ", ")
            switch fault {
            case .otherVersion(let version):
                return .problem(
                    "nodes of another version of SkyNet at \(sources) (beacon version \(version), here "
                        + "\(NetworkSurvey.beaconVersion))", "install one version everywhere")
            case .foreign(let mark): return foreignFinding(mark, sources)
            case .forged:
                return .problem(
                    "beacons that claim to be of this cluster and are not sealed with its key, from \(sources)")
            case .malformed, .oversized:
                return .note("something that is no SkyNet sends to the group from \(sources)")
            case .own, .stale, .replayed, .crowded: return nil
            }
        }
    }

    private func foreignFinding(_ mark: ClusterMark, _ sources: String) -> Finding {
        let advice = "copy one key file to all machines, if they are meant to be one cluster"
        if mark.name != StableHash.of(ClusterSettings(name: "?").cluster) {
            return .note("another cluster shares the group, at \(sources)")
        }
        if mark.key == 0 { return .problem("nodes without a cluster key at \(sources)", advice) }
        return protection == .none
            ? .problem("nodes with a cluster key at \(sources), and there is none here", advice)
            : .problem("nodes with another cluster key at \(sources)", advice)
    }

    private var seedFindings: [Finding] {
        trials.values.filter(\.isSeed).sorted { "\($0.address)" < "\($1.address)" }.map { trial in
            if let failure = trial.failure {
                let isSilent = trial.cause == .unreachable
                return .problem(
                    "--join \(trial.address) \(isSilent ? "cannot be reached" : "makes no link"): \(failure)",
                    isSilent ? "is its node running, its firewall open?" : trial.cause.advice(person))
            }
            return .ok("--join \(trial.address) answers")
        }
    }
}
