import Testing

@testable import Sky
@testable import SkyCore
@testable import SkyJobs
@testable import SkyNode
@testable import Transport

/// Which jobs and nodes a person means.
struct SelectionTests {
    private func job(
        _ id: UInt64, _ title: String = "m31.fits", state: JobReport.State? = .done, submitted: UInt64 = 0
    ) -> JobListing {
        let status = JobStatus(scheduled: 1, running: 0, completed: 1, failed: 0, retries: 0, nodes: [], elapsed: .zero)
        return JobListing(
            id: JobID(rawValue: id), title: title, state: state, priority: 0, reason: nil, status: status,
            submitted: submitted)
    }

    private func complaint(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch {
            return (error as? CommandFailure)?.message ?? "\(error)"
        }
    }

    private var jobs: [JobListing] {
        [
            job(0x7f3a_0000_0000_0001, "a.fits", submitted: 1), job(0x7f3b_0000_0000_0002, "b.fits", submitted: 5),
            job(0x1234_0000_0000_0003, "c.fits", state: nil, submitted: 3),
        ]
    }

    /// What one node answers.
    private func known(_ jobs: [JobListing]) -> KnownJobs {
        let member = Member(node: NodeID(rawValue: 1), name: "dome-1", address: nil, since: .zero)
        return KnownJobs(
            WholeCluster.Answers(nodes: [WholeCluster.Answer(member: member, result: .success(jobs))]))
    }

    @Test func `a job is found by its first digits or as the newest`() throws {
        #expect(try known(jobs).find("7F3A").job.title == "a.fits")
        #expect(try known(jobs).find("12").job.title == "c.fits")
        #expect(try known(jobs).find("@last").job.title == "b.fits", "the last that was submitted")
    }

    @Test func `the newest scan is found, whatever was submitted after it`() async throws {
        let image = ImageReference(path: "/night/b.fits", hdu: nil)
        let scan = SkyRequest(image: image, configuration: ScanConfiguration())
        var injected = scan
        injected.image.injection = Injection(count: 1, faintest: 1, brightest: 2, fwhm: 3)
        let simulation = JobRequest(.simulate(SimulateRequest(tasks: 1, duration: .zero)))
        let requests = [
            JobRequest(
                .sky(SkyRequest(image: ImageReference(path: "/a", hdu: nil), configuration: scan.configuration))),
            JobRequest(.sky(scan)), JobRequest(.sky(injected)), simulation,
        ]
        let jobs = (0..<4).map { job(UInt64($0) + 1, submitted: UInt64($0)) }
        func newest(_ requests: [JobRequest?]) async throws -> String {
            try await JobLookup.newestScan(of: known(Array(jobs.prefix(requests.count)))) {
                requests[Int($0.job.id.rawValue) - 1]
            }.scan.image.path
        }
        #expect(try await newest(requests) == "/night/b.fits")
        #expect(try await newest([requests[0], nil, nil, nil]) == "/a", "the others were deleted meanwhile")
        for (requests, words) in [
            ([simulation], "none of the jobs is a scan: there are no results to fetch"), ([], "there are no jobs"),
        ] as [([JobRequest?], String)] {
            let failure = await #expect(throws: CommandFailure.self) { try await newest(requests) }
            #expect(failure?.message == words)
        }
        #expect(try JobLookup.scan(requests[0], of: JobID(rawValue: 1)).image.path == "/a")
        for (request, words) in [
            (simulation, "job 0000000000000004 is no scan: it has no results"),
            (
                requests[2],
                "job 0000000000000004 scanned an image with injected stars: its catalogue is not one of the sky"
            ), (nil, "job 0000000000000004 has just been deleted"),
        ] as [(JobRequest?, String)] {
            #expect(complaint { _ = try JobLookup.scan(request, of: JobID(rawValue: 4)) } == words)
        }
    }

    @Test func `an unknown job is refused, and the error lists the existing ones`() {
        #expect(
            complaint { _ = try known(jobs).find("99") }
                == "there is no job 99; the newest are 7f3b000000000002 (b.fits), 1234000000000003 (c.fits), "
                + "7f3a000000000001 (a.fits)")
        #expect(
            complaint { _ = try known([jobs[0]]).find("99") }
                == "there is no job 99; the only one is 7f3a000000000001 (a.fits)")
        #expect(complaint { _ = try known([]).find("99") } == "there is no job 99; there are none")
        #expect(complaint { _ = try known([]).find("@last") } == "there are no jobs")
        #expect(complaint { _ = try known(jobs).find("") }.hasPrefix("there is no job"))
        #expect(complaint { _ = try known(jobs).find("7f") }.hasPrefix("2 jobs begin with 7f: 7f3b"))
        let many = jobs + [job(1)]
        #expect(complaint { _ = try known(many).find("99") }.hasSuffix("skynode jobs lists them all"))
    }

    @Test func `jobs are chosen by state, age and number`() {
        #expect(JobSelection(states: [.done]).select(jobs, now: 0).map(\.title) == ["a.fits", "b.fits"])
        #expect(
            JobSelection(limit: 2).select(jobs, now: 0).map(\.title) == ["b.fits", "c.fits"], "the last of the list")
        let old = JobSelection(age: .milliseconds(4))
        #expect(old.select(jobs, now: 7).map(\.title) == ["a.fits"], "one that goes on is not old")
        #expect(old.select(jobs, now: 0).isEmpty && JobSelection().select(jobs, now: 0).count == 3)
        #expect(JobState(job(1, state: .badInput)).words == "bad input")
    }

    @Test func `a job with failed tasks counts as failed, and not as done`() {
        var short = job(3, state: .done)
        short.status.failed = 1
        #expect(JobSelection(states: [.done]).select([short], now: 0).isEmpty)
        #expect(JobSelection(states: [.failed]).select([short], now: 0).count == 1)
    }

    @Test(arguments: ["25h", "48h", "7d", "90m"]) func `ages of more than a day are accepted`(text: String) {
        #expect(AgeArgument(argument: text) != nil)
    }

    @Test(arguments: ["jobs cancel @last", "jobs delete @last", "jobs delete 7f3a @last"])
    func `@last cannot cancel or delete a job`(words: String) {
        #expect(throws: (any Error).self) {
            _ = try SkyNodeCommand.parseAsRoot(words.split(separator: " ").map(String.init))
        }
    }

    @Test func `a detached job's hint shows the next commands with their connection options`() {
        let id = JobID(rawValue: 0x7f3a_0000_0000_0001)
        #expect(
            DetachHint([id], connection: ["--node", "dome-1:7420"], output: "my results").lines == [
                "follow it: skynode jobs watch 7f3a000000000001 --node dome-1:7420",
                "then fetch the results: skynode jobs results 7f3a000000000001 -o 'my results' --node dome-1:7420",
            ])
        #expect(DetachHint([id, id], connection: [], output: nil).lines == ["see them: skynode jobs"])
        #expect(DetachHint([], connection: [], output: "out").lines.isEmpty)
    }

    @Test(arguments: [("7d", 604_800.0), ("12h", 43_200), ("1.5d", 129_600), ("30m", 1800)])
    func `ages have days`(text: String, seconds: Double) {
        #expect(AgeArgument(argument: text)?.duration.inSeconds == seconds)
    }

    @Test(arguments: ["7", "d", "-1d", "nan", "1e9d", "infd"]) func `a malformed age is refused`(text: String) {
        #expect(AgeArgument(argument: text) == nil)
    }

    private func node(_ name: String, _ id: UInt64) -> NodeReport {
        NodeReport(
            member: Member(node: NodeID(rawValue: id), name: name, address: nil, since: .zero), status: nil,
            isAnswering: false, age: .zero, roundTrip: nil, clockOffset: nil, speed: nil)
    }

    @Test func `a node is found by name or id, and an unknown one is refused with a list`() throws {
        let nodes = [node("dome-2", 0x4f09_0000_0000_0000), node("dome-1", 1), node("twin", 2), node("twin", 3)]
        #expect(try NodeReference.find("dome-1", in: nodes).member.node.rawValue == 1)
        #expect(try NodeReference.find("4f09", in: nodes).member.name == "dome-2")
        #expect(try NodeReference.find("0000000000000001", in: nodes).member.name == "dome-1")
        #expect(
            complaint { _ = try NodeReference.find("dome-4", in: nodes) }
                == "there is no node dome-4; there are dome-1, dome-2, twin")
        #expect(
            complaint { _ = try NodeReference.find("x", in: [nodes[0]]) } == "there is no node x; there is dome-2")
        #expect(complaint { _ = try NodeReference.find("twin", in: nodes) }.hasPrefix("2 nodes are called twin: 0000"))
        #expect(complaint { _ = try NodeReference.find("", in: nodes) }.hasPrefix("there is no node"))
    }
}
