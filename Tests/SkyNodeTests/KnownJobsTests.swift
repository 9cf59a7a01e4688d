import Base
import Testing

@testable import SkyCore
@testable import SkyNode
@testable import Transport

/// Which jobs a command knows of, from what the nodes of a cluster answer, and what it says of those that are missing.
struct KnownJobsTests {
    private typealias Answer = WholeCluster.Answer<[JobListing]>

    private func job(_ id: UInt64, submitted: UInt64 = 0, term: UInt64? = nil) -> JobListing {
        let status = JobStatus(scheduled: 1, running: 0, completed: 1, failed: 0, retries: 0, nodes: [], elapsed: .zero)
        return JobListing(
            id: JobID(rawValue: id), title: "\(id)", state: .done, priority: 0, reason: nil, status: status,
            submitted: submitted, copies: term.map { CopyReport(term: $0, wanted: 2, copies: [], isWaiting: false) })
    }

    private func member(_ number: Int) -> Member {
        Member(node: NodeID(rawValue: UInt64(number)), name: "pc\(number)", address: nil, since: .zero)
    }

    private func answer(_ number: Int, _ jobs: [JobListing]) -> Answer {
        Answer(member: member(number), result: .success(jobs))
    }

    private func silence(_ number: Int, isUnopened: Bool = false) -> Answer {
        Answer(
            member: member(number), result: .failure(.init(reason: "no answer", isUnopened: isUnopened)))
    }

    private func waiting(_ node: String, _ jobs: Int?, needsWord: Bool) -> WaitingJobs {
        WaitingJobs(
            node: node, jobs: jobs, keeper: "pc1", address: .hostPort(host: "10.0.0.1", port: 7420),
            needsWord: needsWord)
    }

    private func known(_ answers: [Answer], waiting: [WaitingJobs] = [], lost: [LostMember] = []) -> KnownJobs {
        KnownJobs(
            WholeCluster.Answers(nodes: answers, lost: lost, uptime: .seconds(100)), waiting: waiting)
    }

    private func lost(_ number: Int, at time: Int = 60) -> LostMember {
        LostMember(name: "pc\(number)", since: .seconds(time))
    }

    private func unknownNow(_ known: KnownJobs, _ text: String) -> JobUnknownNow? {
        do {
            _ = try known.find(text)
            return nil
        } catch {
            return error as? JobUnknownNow
        }
    }

    @Test func `jobs of all nodes are one list, and each is in it once`() throws {
        let stale = job(0x7f00_0000_0000_0001, submitted: 3, term: 1)
        let known = known([
            answer(1, [stale, job(0x7f10_0000_0000_0002, submitted: 1)]),
            answer(2, [job(0x7f00_0000_0000_0001, submitted: 3, term: 2)]), answer(3, []),
        ])
        #expect(known.entries.map(\.member.name) == ["pc1", "pc2"], "the oldest first, and the later term")
        #expect(known.isComplete && known.lines.isEmpty && known.nodeCount == 3)
        #expect(try known.find("@last").member.name == "pc2")
        #expect(throws: CommandFailure.self, "ambiguous over two nodes") { try known.find("7f") }
    }

    @Test func `a node that does not answer is named, and no job is said not to exist`() throws {
        let known = known([answer(1, [job(0x7f00_0000_0000_0001)]), silence(2)])
        #expect(known.lines == ["the jobs of pc2 are missing: no answer; skynode doctor looks for the reason"])
        #expect(!known.isComplete)
        #expect(try known.find("7f").member.name == "pc1")
        let unknown = try #require(unknownNow(known, "99"))
        #expect(unknown.message.contains("pc2") && !unknown.needsWord, "\(unknown.message)")
        #expect(throws: CommandFailure.self, "another one may begin with 7f") { try known.findForSure("7f") }
        #expect(try known.findForSure("7f00000000000001").member.name == "pc1")
    }

    @Test func `a node that was lost is named, because it may be cut off and take jobs`() throws {
        let one = known([answer(1, [job(0x7f00_0000_0000_0001)])], lost: [lost(2)])
        #expect(one.lines == ["pc2 was lost (40 s ago): jobs that only it has are missing until it is back"])
        #expect(!one.isComplete && one.lines == one.absentLines)
        #expect(try one.find("7f").member.name == "pc1" && one.find("@last").member.name == "pc1")
        #expect(try one.findForSure("7f00000000000001").member.name == "pc1")
        for text in ["7f", "@last"] {
            let failure = #expect(throws: CommandFailure.self, "the lost node may have another one") {
                try one.findForSure(text)
            }
            #expect(failure?.status == .noCluster && failure?.message?.hasSuffix("whole id, 7f00000000000001") == true)
        }
        do {
            _ = try one.find("99")
            Issue.record("there is none")
        } catch let failure as CommandFailure {
            #expect(failure.status == .noCluster && failure.message?.contains("pc2 was lost") == true)
        }
        // Its own machine may just be starting again: a command that can wait does.
        #expect(unknownNow(known([answer(1, [])], lost: [lost(2), lost(3, at: 99)]), "99")?.needsWord == false)
        let some = known([answer(1, [job(0x7f00_0000_0000_0001)])], lost: [lost(3, at: 9), lost(2, at: 97)])
        #expect(
            some.lines == [
                "pc2, pc3 were lost (the last one 3 s ago): jobs that only they have are missing until they are back"
            ])
        #expect(try some.find("7f").member.name == "pc1" && some.find("@last").member.name == "pc1")
        // What is said of its jobs anyway is said once.
        let waiting = known([answer(1, [])], waiting: [waiting("pc3", 9, needsWord: true)], lost: [lost(3, at: 9)])
        #expect(waiting.lines.count == 1 && unknownNow(waiting, "99")?.needsWord == true)
    }

    @Test func `jobs that are at no node are named, with what lets them go on`() {
        let lost = known([answer(1, [])], waiting: [waiting("pc3", 9, needsWord: true)])
        #expect(lost.lines == ["9 jobs of pc3 wait for it: skynode jobs adopt pc3 --node 10.0.0.1:7420"])
        #expect(unknownNow(lost, "99")?.needsWord == true && unknownNow(lost, "@last")?.needsWord == true)
        let moving = known([answer(1, [])], waiting: [waiting("pc3", 1, needsWord: false)])
        #expect(
            moving.lines == ["1 job of pc3 is about to be taken over by another node; ask again in a moment"])
        #expect(unknownNow(moving, "99")?.needsWord == false)
        let own = known([answer(2, [])], waiting: [waiting("pc1", nil, needsWord: true)])
        #expect(
            own.lines == [
                "jobs of pc1 wait for the nodes with copies: skynode jobs unprotect --all --node 10.0.0.1:7420"
            ])
        // The newest one may be among them, and another one would be a wrong answer.
        let newest = known([answer(1, [job(1)])], waiting: [waiting("pc3", 1, needsWord: false)])
        #expect(
            unknownNow(newest, "@last")?.message.hasPrefix("the newest job is not known, name the job by its id: ")
                == true)
        #expect(unknownNow(known([answer(1, [job(1)]), silence(2)]), "@last")?.needsWord == false)
        // A node that says so itself is not named twice.
        let unopened = known([silence(1, isUnopened: true)], waiting: [waiting("pc1", 2, needsWord: true)])
        #expect(unopened.lines == ["the jobs of pc1 are missing: no answer"])
        #expect(unknownNow(unopened, "99")?.needsWord == true)
        let starting = known([silence(1, isUnopened: true)])
        #expect(unknownNow(starting, "99")?.needsWord == false, "it opens by itself")
    }

    @Test func `the fullest copy of what works nowhere counts, and nothing is said of a coordinator without jobs`() {
        func resting(_ coordinator: UInt64, _ jobs: Int?, _ isDecidable: Bool) -> RestingCoordinator {
            RestingCoordinator(
                coordinator: CoordinatorID(rawValue: coordinator), node: "pc\(coordinator)", jobs: jobs,
                isDecidable: isDecidable)
        }
        func census(_ open: Set<UInt64>, _ resting: [RestingCoordinator]?) -> CoordinatorCensus {
            CoordinatorCensus(kept: [], open: Set(open.map { CoordinatorID(rawValue: $0) }), resting: resting)
        }
        let all = WaitingJobs.all(in: [
            (
                keeper: member(1),
                census: census([1], [resting(2, 3, false), resting(3, 1, false), resting(4, 0, false)])
            ),
            (keeper: member(2), census: census([2], [resting(3, 2, true), resting(1, 7, true)])),
            (keeper: member(5), census: census([5], nil)),
        ])
        #expect(all.count == 1 && all.first?.node == "pc3" && all.first?.jobs == 2 && all.first?.keeper == "pc2")
        #expect(all.first?.needsWord == false, "one of its nodes can take over")
    }

    /// A copy of one coordinator's journal at node `place`, which takes these for the members.
    private func copy(
        _ place: Int, of coordinator: UInt64 = 7, at number: UInt64, _ members: [UInt64], jobs: Int = 1,
        forgetful: Set<ReplicaID>? = nil
    ) -> (keeper: Member, census: CoordinatorCensus) {
        let resting = RestingCoordinator(
            coordinator: CoordinatorID(rawValue: coordinator), node: "pc9", jobs: jobs, isDecidable: true,
            position: LogPosition(term: 1, number: number, hash: number),
            set: ReplicaSet(members: members.map { ReplicaID(rawValue: $0) }), forgetful: forgetful)
        return (
            member(place),
            CoordinatorCensus(kept: [], open: [], resting: [resting], replica: ReplicaID(rawValue: UInt64(place)))
        )
    }

    @Test func `the copy that is furthest says who decides, and only those with whole copies do`() {
        #expect(
            WaitingJobs.all(in: [copy(1, at: 5, [9, 1, 2]), copy(2, at: 5, [9, 1, 2])]).first?.needsWord == false)
        // The node was left alone before it was lost, and one of the others does not know it.
        let left = WaitingJobs.all(in: [copy(1, at: 5, [9, 1, 2]), copy(2, at: 8, [9])])
        #expect(left.first?.needsWord == true && left.first?.keeper == "pc2")
        // The other member is here, and its copy is damaged.
        let damaged = (
            keeper: member(2),
            census: CoordinatorCensus(kept: [], open: [], resting: [], replica: ReplicaID(rawValue: 2))
        )
        #expect(WaitingJobs.all(in: [copy(1, at: 5, [9, 1, 2]), damaged]).first?.needsWord == true)
    }

    @Test func `a copy that was put back from an earlier time decides nothing`() {
        let older = copy(2, at: 3, [9, 1, 2])
        #expect(WaitingJobs.all(in: [copy(1, at: 5, [9, 1, 2]), older]).first?.needsWord == false)
        let all = WaitingJobs.all(in: [copy(1, at: 5, [9, 1, 2], forgetful: [ReplicaID(rawValue: 2)]), older])
        #expect(all.first?.needsWord == true && all.first?.keeper == "pc1")
    }

    @Test func `several coordinators of a lost node are one line`() {
        let all = WaitingJobs.all(in: [
            copy(1, of: 7, at: 5, [9], jobs: 2), copy(1, of: 8, at: 3, [9], jobs: 3),
            copy(1, of: 6, at: 3, [9], jobs: 0),
        ])
        #expect(all.count == 1 && all.first?.jobs == 5 && all.first?.needsWord == true)
    }

    // MARK: - Any cluster

    /// A cluster as it is, whoever is asked.
    private struct Cluster {
        var jobs: [[JobListing]]
        var silent: Set<Int>
        /// Jobs of a coordinator that works nowhere.
        var resting: [JobListing]
        /// Jobs that a lost node has taken; `nil` where none was lost.
        var cutOff: [JobListing]?

        init(_ random: inout SplitMix64) {
            let nodes = Int.random(in: 1...5, using: &random)
            var number: UInt64 = 0
            func some(_ count: Int, _ random: inout SplitMix64) -> [JobListing] {
                (0..<count).map { _ in
                    number += 1
                    // Few first digits, so that jobs of different nodes begin alike.
                    let id = UInt64.random(in: 0..<4, using: &random) << 60 | number
                    return KnownJobsTests().job(id, submitted: .random(in: 0..<20, using: &random))
                }
            }
            jobs = (0..<nodes).map { _ in some(.random(in: 0...3, using: &random), &random) }
            // The node that is asked answers.
            silent = Set((1..<max(1, nodes) + 1).filter { $0 < nodes && Int.random(in: 0..<4, using: &random) == 0 })
            resting = Bool.random(using: &random) ? [] : some(.random(in: 0...2, using: &random), &random)
            cutOff = Int.random(in: 0..<4, using: &random) > 0 ? nil : some(.random(in: 0...2, using: &random), &random)
        }
    }

    /// How a lookup would go wrong.
    private enum Flaw {
        case stopsAtOneNode
    }

    private func known(_ cluster: Cluster, _ flaw: Flaw?) -> KnownJobs {
        var answers = cluster.jobs.indices.map {
            cluster.silent.contains($0) ? silence($0) : answer($0, cluster.jobs[$0])
        }
        if flaw == .stopsAtOneNode { answers = [answers[0]] }
        let resting = cluster.resting.count
        return known(
            answers, waiting: resting == 0 ? [] : [waiting("pc9", resting, needsWord: true)],
            lost: cluster.cutOff == nil ? [] : [lost(8)])
    }

    /// What is wrong with the answers to all questions about a cluster.
    private func violations(_ cluster: Cluster, _ flaw: Flaw?, _ seen: inout Set<String>) -> [String] {
        let known = known(cluster, flaw)
        let all = cluster.jobs.flatMap(\.self) + cluster.resting + (cluster.cutOff ?? [])
        let answering = cluster.jobs.indices.filter { !cluster.silent.contains($0) }.flatMap { cluster.jobs[$0] }
        var violations: [String] = []
        if all.count > known.entries.count, known.isComplete || known.lines.isEmpty {
            violations.append("fewer jobs are listed than there are, and nothing says so")
        }
        // Of each kind of job some: to write and compare all ids takes longer than all else here.
        let texts =
            ["0", "1", "2", "3", "@last", "ffffffffffffffff"] + (all.prefix(1) + all.suffix(2)).map { "\($0.id)" }
        let answeringIDs = answering.map { "\($0.id)" }
        let allIDs = all.map { "\($0.id)" }
        for text in texts {
            let meant = text == "@last" ? answeringIDs : answeringIDs.filter { $0.hasPrefix(text) }
            do {
                let found = try known.find(text).job
                seen.insert("found")
                // Nobody can wait for what a lost node has taken since.
                let known = cluster.jobs.flatMap(\.self) + cluster.resting
                if text == "@last", found.submitted != known.map(\.submitted).max() {
                    violations.append("@last is not the newest")
                }
                if text != "@last", meant.count != 1 { violations.append("\(text) is ambiguous") }
            } catch let error as JobUnknownNow {
                seen.insert("unknown now")
                if error.message.isEmpty || text != "@last" && !meant.isEmpty { violations.append("\(text) is known") }
            } catch {
                let words = (error as? CommandFailure)?.message ?? ""
                if words.contains("was lost") {
                    seen.insert("lost")
                    if !meant.isEmpty { violations.append("\(text) is known") }
                } else if words.contains("begin with") {
                    seen.insert("ambiguous")
                    if meant.count < 2 { violations.append("\(text) is not ambiguous") }
                } else {
                    seen.insert("unknown")
                    if text == "@last" ? !all.isEmpty : allIDs.contains(where: { $0.hasPrefix(text) }) {
                        violations.append("\(text) exists")
                    }
                }
            }
        }
        return violations
    }

    @Test func `in any cluster a job is found, or is said to be missing, and only what does not exist is said not to`()
    {
        var seen: Set<String> = []
        for seed in 0..<1000 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            let found = violations(Cluster(&random), nil, &seen)
            #expect(found.isEmpty, "seed \(seed): \(found)")
        }
        #expect(seen == ["found", "unknown now", "ambiguous", "unknown", "lost"])
    }

    @Test func `a lookup that stops at one node is found`() {
        var seen: Set<String> = []
        let first = (0..<1000 as Range<UInt64>).first { seed in
            var random = SplitMix64(seed: seed)
            return !violations(Cluster(&random), .stopsAtOneNode, &seen).isEmpty
        }
        #expect(first != nil)
    }

    @Test func `a node that was drained says where its jobs go on`() {
        func job(_ id: UInt64, isDone: Bool = false, hasCopies: Bool = true) -> JobListing {
            var job = self.job(id, term: hasCopies ? 1 : nil)
            job.state = isDone ? .done : nil
            if hasCopies { job.copies?.copies = [CopyState(hasVote: true)] }
            return job
        }
        let drained = DrainedJobs(
            of: member(1).node,
            in: known([answer(1, [job(1), job(2), job(3), job(9, isDone: true)]), answer(2, [job(4)])]))
        func said(_ answers: Answer...) -> (words: String?, isSettled: Bool) {
            (drained.words(known(answers)), drained.areSettled(in: known(answers)))
        }
        #expect(said(answer(1, []), answer(2, [job(1), job(2), job(3), job(4)])) == ("its 3 jobs go on at pc2", true))
        #expect(
            said(answer(2, [job(1), job(3)]), answer(3, [job(2)])) == ("its 3 jobs go on: 2 at pc2, 1 at pc3", true))
        #expect(
            said(answer(1, [job(3, isDone: true), job(2)]), answer(2, [job(1)])) == (
                "its 1 job goes on at pc2; 1 job stays there, because no other node has taken it over", false
            ))
        let alone = [job(1), job(2), job(3)].map { job in
            var job = job
            job.copies = nil
            return job
        }
        #expect(said(answer(1, alone)) == ("3 jobs stay there, because no other node has taken them over", true))
        #expect(said(answer(1, []), silence(2)) == ("3 jobs are at no node that answers", false))
        let idle = DrainedJobs(of: member(3).node, in: known([answer(1, [job(1)])]))
        #expect(idle.words(known([answer(1, [job(1)])])) == nil)
    }

    @Test func `a command that lets jobs go on names the node, wherever it is typed`() {
        let node = NodeAddress.hostPort(host: "10.0.0.3", port: 7420)
        #expect(UnopenedJobs.words(at: node).contains("(skynode jobs unprotect --all --node 10.0.0.3:7420 lets it"))
        #expect(UnopenedJobs.words(at: nil).contains("(skynode jobs unprotect --all lets it"))
        let everywhere = NodeAddress.hostPort(host: "0.0.0.0", port: 7420)
        #expect(PersonsWord.adopt("pc1", at: everywhere) == "skynode jobs adopt pc1", "nobody can dial that")
    }
}
