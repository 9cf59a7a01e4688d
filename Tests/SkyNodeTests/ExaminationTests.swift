import Base
import NIOCore
import Testing

@testable import SkyCore
@testable import SkyNode
@testable import Transport

/// What `skynode doctor` makes of what it has seen.
@Suite struct ExaminationTests {
    private let own = NodeID(rawValue: 1)
    private let other = NodeID(rawValue: 2)
    private let address = NodeAddress.hostPort(host: "10.0.0.2", port: 7420)
    private let path = BeaconPath(interface: "eth0", index: 2, address: IPAddress("10.0.0.1")!)

    private func member(_ node: NodeID, _ name: String) -> Member {
        Member(node: node, name: name, address: nil, since: .zero)
    }

    /// A survey in which `other` was heard, or not.
    private func survey(
        answered: Bool = true, clock: Int = 0, isWayHeard: Bool = true, failure: String? = nil,
        strangers: [BeaconFault] = [],
        isHeard: Bool = true
    ) throws -> NetworkSurvey {
        var survey = NetworkSurvey(own: NodeID(rawValue: 9), addresses: [path.address])
        survey.ways[path] = .init(failure: failure, isHeard: isWayHeard)
        survey.asked(at: .zero)
        let source = try SocketAddress(ipAddress: "10.0.0.2", port: 40_000)
        let beacon = Beacon(
            .announce, cluster: ClusterMark(name: 1, key: 1), node: other, sequence: 1, sent: UInt64(1_000_000 + clock),
            validity: 30, port: 7420, name: "boris", places: [.source])
        if isHeard {
            survey.heard(.success(beacon), from: source, wall: 1_000_000, at: .milliseconds(100))
            survey.asked(at: .seconds(1))
            survey.heard(.success(beacon), from: source, wall: 1_000_000, at: .seconds(answered ? 1 : 2))
        }
        for fault in strangers { survey.heard(.failure(fault), from: source, wall: 0, at: .zero) }
        return survey
    }

    private func examination(_ survey: NetworkSurvey, members: [NodeID] = [NodeID(rawValue: 1), NodeID(rawValue: 2)])
        -> Examination
    {
        Examination(
            protection: .key(file: "cluster.key"), address: .hostPort(host: "127.0.0.1", port: 7420),
            own: .answers(own, name: "anna", members: members.map { member($0, "\($0)") }), multicast: .survey(survey),
            settings: MulticastSettings(),
            trials: [address: .init(address: address, isSeed: false, node: other, members: [own, other])],
            firewall: .other, seconds: 5)
    }

    private func problems(_ examination: Examination) -> [String] {
        examination.findings.filter { $0.level == .problem }.map(\.text)
    }

    @Test func `a healthy network has no problems`() throws {
        let findings = examination(try survey()).findings
        #expect(findings.allSatisfy { $0.level == .ok }, "\(findings)")
        #expect(findings.contains { $0.text == "eth0, 10.0.0.1: sends and hears multicast" })
        #expect(findings.contains { $0.text.hasPrefix("boris") && $0.text.hasSuffix("is heard, and answers") })
    }

    @Test func `what the kernel lacks to confine workers is a note, and no problem`() throws {
        var examination = examination(try survey())
        examination.confinement = ConfinementSupport(landlock: 7, hasFilter: true)
        #expect(examination.findings.allSatisfy { $0.level == .ok })
        #expect(examination.findings.contains { $0.text.contains("Landlock of version 7") })
        examination.confinement = ConfinementSupport(landlock: 0, hasFilter: false)
        let notes = examination.findings.filter { $0.level == .note }
        #expect(notes.map { $0.text.contains("Landlock") } == [true, false])
        #expect(notes.map { $0.text.contains("seccomp") } == [false, true] && problems(examination).isEmpty)
    }

    @Test func `a node that may use fewer processors than the machine has is a note, with the reason`() throws {
        var examination = examination(try survey())
        let groups = ControlGroupPaths(groups: "", mounts: "")
        examination.processors = ProcessorShare(allowed: ProcessorShare.onlineProcessors, groups: groups)
        #expect(examination.findings.allSatisfy { $0.level == .ok })
        examination.processors?.quota = 0.5
        let notes = examination.findings.filter { $0.level == .note }.map(\.text)
        let isLess = ProcessorShare.onlineProcessors > 1
        #expect(notes.count == (isLess ? 1 : 0))
        #expect(notes.allSatisfy { $0.contains("1 slot,") && $0.contains("quota of 50 % of one processor") })
    }

    @Test(arguments: [("0.2, sep 1.4.1", "measures otherwise (sep 1.4.1; here sep 1.2.1)"), (nil, "does not say")])
    func `a member that measures otherwise is a note, with what differs`(arithmetic: String?, words: String) throws {
        var (anna, boris) = (member(own, "anna"), member(other, "boris"))
        (anna.arithmetic, boris.arithmetic) = ("0.2, sep 1.2.1", "0.2, sep 1.2.1")
        var examination = examination(try survey())
        examination.own = .answers(own, name: "anna", members: [anna, boris])
        #expect(examination.findings.contains { $0.level == .ok && $0.text.contains("all nodes measure alike") })
        boris.arithmetic = arithmetic
        examination.own = .answers(own, name: "anna", members: [anna, boris])
        let notes = examination.findings.filter { $0.level == .note }
        #expect(notes.count == 1 && notes.first?.text.hasPrefix("boris \(words)") == true, "\(notes)")
        #expect(problems(examination).isEmpty)
    }

    @Test func `a blocked interface is named, with the command that opens it`() throws {
        var examination = examination(try survey(isWayHeard: false))
        examination.firewall = .ufw
        let finding = try #require(examination.findings.first { $0.level == .problem })
        #expect(finding.text.hasPrefix("eth0, 10.0.0.1: what is sent to the group does not come back"))
        #expect(finding.advice == "run: ufw allow 7421/udp; ufw allow 7420/tcp")
        examination = self.examination(try survey(failure: "sendto: Operation not permitted (errno: 1)"))
        #expect(problems(examination).first?.contains("cannot send") == true)
    }

    @Test func `a node that is heard and does not answer is reported as not hearing`() throws {
        #expect(
            problems(examination(try survey(answered: false))).first?.contains("does not hear this machine") == true)
    }

    @Test(
        arguments: [(1_000, nil), (-5_000, .note), (95_000, .problem), (-31_000, .problem)] as [(Int, Finding.Level?)])
    func `clocks that differ are reported`(clock: Int, level: Finding.Level?) throws {
        let finding = examination(try survey(clock: clock)).findings.first { $0.text.hasPrefix("the clock of boris") }
        #expect(finding?.level == level)
        if let finding { #expect(finding.text.contains(clock > 0 ? "ahead of" : "behind")) }
        // A node of an earlier version does not answer somebody whose clock differs by so much.
        guard level == .problem else { return }
        let findings = examination(try survey(answered: false, clock: clock)).findings
        #expect(!findings.contains { $0.advice?.contains("firewall") == true }, "\(findings)")
    }

    @Test func `strangers are reported by their kind`() throws {
        let name = StableHash.of("skynet")
        let survey = try survey(strangers: [
            .otherVersion(7), .foreign(ClusterMark(name: name, key: 5)), .foreign(ClusterMark(name: name, key: 0)),
            .foreign(ClusterMark(name: 3, key: 5)), .forged, .malformed,
        ])
        let findings = examination(survey).findings.filter { $0.level != .ok }
        func level(_ text: String) -> Finding.Level? { findings.first { $0.text.contains(text) }?.level }
        #expect(level("another version of SkyNet at 10.0.0.2 (beacon version 7, here 2)") == .problem)
        #expect(level("another cluster key at 10.0.0.2") == .problem)
        #expect(level("without a cluster key") == .problem)
        #expect(level("another cluster shares the group") == .note)
        #expect(level("not sealed with its key") == .problem)
        #expect(level("no SkyNet") == .note)
        #expect(findings.count == 6)
    }

    @Test func `a node that stops while it is looked at is no problem`() throws {
        var survey = try survey(answered: false)
        let goodbye = Beacon(
            .goodbye, cluster: ClusterMark(name: 1, key: 1), node: other, sequence: 2, sent: 1_000_000, validity: 30,
            port: 0, name: "boris", places: [.source])
        let source = try SocketAddress(ipAddress: "10.0.0.2", port: 40_000)
        survey.heard(.success(goodbye), from: source, wall: 1_000_000, at: .seconds(2))
        var examination = examination(survey, members: [own])
        examination.trials[address] = .init(address: address, isSeed: false, failure: "no answer")
        #expect(problems(examination).isEmpty)
        #expect(examination.findings.contains { $0.level == .note && $0.text.contains("has said goodbye") })
    }

    @Test func `an address that cannot be reached is reported with the reason`() throws {
        var examination = examination(try survey())
        examination.trials[address] = .init(address: address, isSeed: false, failure: "no answer")
        #expect(problems(examination) == ["boris cannot be reached: 10.0.0.2:7420 (no answer)"])
    }

    @Test(arguments: [
        ("it has another cluster key", nil, "copy one key file to both machines; skynode key show FILE compares them"),
        ("it has another cluster key", "alice", "have one issued under this one (skynode key issue alice)"),
        ("check the clocks of both machines", nil, "NTP"),
    ])
    func `where a node makes no link because of a key or a clock, no firewall is blamed`(
        words: String, person: String?, advice: String
    ) throws {
        let cause = LinkCause(HandshakeFailure.broken(words))
        var examination = examination(try survey())
        examination.person = person.flatMap { Person(name: $0, role: .user) }
        examination.trials[address] = .init(address: address, isSeed: true, failure: words, cause: cause)
        examination.own = .stranger(reason: words, cause: cause, owners: [])
        let problems = examination.findings.filter { $0.level == .problem }
        #expect(
            problems.map { $0.text.contains(words) } == [true, true, true],
            "of this machine, heard, and named by --join")
        #expect(problems.allSatisfy { $0.advice?.contains(advice) == true && $0.advice?.contains("firewall") == false })
        let strangers = try survey(strangers: [.foreign(ClusterMark(name: 1, key: 5))], isHeard: false)
        #expect(!self.examination(strangers).findings.contains { $0.advice?.contains("firewall") == true })
    }

    @Test func `a revoked credential is reported with whom to ask`() throws {
        let failure = HandshakeFailure.refusedByPeer(
            Refusal(.identity, "the credential of user alice has been revoked"))
        var examination = examination(try survey())
        examination.person = Person(name: "alice", role: .user)
        examination.trials[address] = .init(
            address: address, isSeed: false, failure: "\(failure)", cause: LinkCause(failure))
        let finding = try #require(examination.findings.first { $0.level == .problem })
        #expect(finding.text == "boris makes no link: 10.0.0.2:7420 (\(failure))")
        #expect(
            finding.advice
                == "have another credential issued, on a machine with the cluster key: skynode key issue alice")
    }

    @Test func `nodes that do not list each other are reported`() throws {
        #expect(
            problems(examination(try survey(), members: [own])) == ["anna has no link to boris, which can be reached"])
        var examination = examination(try survey())
        examination.trials[address]?.members = [other]
        #expect(problems(examination) == ["boris does not list anna"])
        // Linked, and not heard: as behind a router.
        let unheard = self.examination(try survey(isHeard: false)).findings
        #expect(unheard.contains { $0.level == .note && $0.text.contains("not heard by multicast") })
    }

    @Test func `a missing node, key or multicast is a note, and a busy port is a problem`() throws {
        var examination = examination(try survey(isHeard: false))
        examination.own = .absent
        examination.protection = .none
        examination.multicast = .off
        examination.trials = [:]
        #expect(examination.findings.map(\.level) == [.note, .note, .note])
        examination.multicast = .portTaken(reason: "the port is busy", owners: [PortOwner(process: 7, command: "nc")])
        examination.own = .stranger(
            reason: "it speaks HTTP", cause: .notNode, owners: [PortOwner(process: 8, command: "nginx")])
        #expect(
            problems(examination) == [
                "what answers at 127.0.0.1:7420 is no node that this command can use: it speaks HTTP; the port belongs to "
                    + "nginx (process 8)",
                "239.255.83.75:7421 cannot be listened on (the port is busy): nc (process 7) has the port",
            ])
        examination.own = .stranger(reason: "Network is unreachable", cause: .unreachable, owners: [])
        #expect(problems(examination).first == "nothing answers at 127.0.0.1:7420: Network is unreachable")
        let seed = NodeAddress.hostPort(host: "first", port: 7420)
        examination.trials = [seed: .init(address: seed, isSeed: true, failure: "unknown host")]
        #expect(problems(examination).last == "--join first:7420 cannot be reached: unknown host")
    }

    @Test func `a finding's text cannot control the terminal`() {
        let lines = Finding.problem("a\u{1B}[2Jb", "c\nd").lines
        #expect(lines.count == 2)
        #expect(!lines.joined().contains("\u{1B}") && !lines.joined().contains("\n"))
    }

    @Test func `it is said why the node cannot read its jobs`() throws {
        var seen = examination(try survey(), members: [NodeID(rawValue: 1)])
        seen.storageFault = "/d/journal.sqlite was deleted"
        #expect(seen.findings.contains(.problem("anna cannot read its jobs: /d/journal.sqlite was deleted")))
    }

    @Test func `it is said whether others keep the node's jobs`() throws {
        func finding(_ wanted: Int, _ votes: [Bool], nodes: Int) throws -> Finding? {
            var seen = examination(try survey(), members: (1...nodes).map { NodeID(rawValue: UInt64($0)) })
            seen.copies = .init(
                wanted: wanted, states: votes.map { CopyState(node: "boris", behind: 0, hasVote: $0, isInReach: true) })
            return seen.findings.first { $0.text.contains("cop") }
        }
        #expect(try finding(2, [true, true], nodes: 3)?.level == .ok)
        #expect(try finding(0, [], nodes: 3)?.level == .note)
        let alone = try #require(try finding(2, [], nodes: 1))
        #expect(alone.level == .note && alone.text == "no other node keeps a copy of anna's jobs")
        let pair = try #require(try finding(2, [false], nodes: 2))
        #expect(pair.level == .note && pair.text.contains("skynode jobs adopt anna"))
        #expect(try finding(2, [true], nodes: 4)?.level == .problem)
        var seen = examination(try survey(), members: (1...3).map { NodeID(rawValue: UInt64($0)) })
        let unusable = CopyState(
            node: "boris", behind: 0, hasVote: false, isInReach: true, isFull: true,
            reason: "/d/copies: Not a directory")
        seen.copies = .init(wanted: 2, states: [unusable])
        #expect(
            seen.findings.contains {
                $0.level == .problem
                    && $0.text.hasSuffix("boris (cannot store it: /d/copies: Not a directory, without a vote)")
            })
    }

    @Test func `it is said where jobs have no room, here or where copies of them are`() throws {
        var seen = examination(try survey(), members: (1...3).map { NodeID(rawValue: UInt64($0)) })
        func copy(_ node: String, isFull: Bool, hasVote: Bool = true) -> CopyState {
            CopyState(node: node, behind: 0, hasVote: hasVote, isInReach: true, isFull: isFull)
        }
        seen.room = .init(held: 250_000, limit: 1_000_000)
        seen.copies = .init(
            wanted: 2,
            states: [
                copy("boris", isFull: false), copy("carl", isFull: false),
                copy("dora", isFull: true, hasVote: false),
            ])
        #expect(problems(seen).isEmpty)
        seen.room?.limit = 0
        #expect(problems(seen).contains { $0.hasPrefix("anna has no room for jobs: they hold ") })
        seen.copies = nil
        #expect(problems(seen).count == 1, "without copies, too")
        seen.room = nil
        seen.copies = .init(wanted: 2, states: [copy("boris", isFull: false), copy("carl", isFull: true)])
        #expect(problems(seen) == ["anna's jobs may wait for copies of them: carl (has no room)"])
        #expect(!seen.findings.contains { $0.level == .ok && $0.text.contains("copies of anna's jobs") })
    }
}
