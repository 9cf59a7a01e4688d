import Base
import Cryptography
import Distributed
import Fixtures
import Foundation
import NIOCore
import Testing
import Transport

@testable import SkyCore

/// A kind of job that the program does not have, as `docs/EXTENDING.md` shows it, in a real cluster.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ChecksumKindTests {
    private let folder = TemporaryFolder()

    init() { JobKinds.add([ChecksumKind.self]) }

    private func request(_ texts: [String]) -> ChecksumRequest {
        ChecksumRequest(
            paths: texts.enumerated().map { number, text in
                folder.write(Array(text.utf8), "file\(number)")
            })
    }

    private static func digest(_ text: String) -> [UInt8] { SHA256.digest(of: Array(text.utf8)) }

    private static func job(_ request: ChecksumRequest) -> Submission {
        Submission(JobRequest(JobRequest.Kind(request)))
    }

    private static func results(of job: JobID, at coordinator: Coordinator) async throws -> [Int: [UInt8]] {
        let results = try await coordinator.whenLocal { try await $0.results(of: job) as? Checksums }
        return try #require(results ?? nil).digests
    }

    /// The journal in a folder, when the one before has let go of it.
    private func journal(_ path: String) async throws -> Journal {
        while true {
            let opened = Result { () throws(JournalError) in try Journal(in: JournalFolder(path)) }
            guard case .failure(let error) = opened, error.message.contains("in use") else { return try opened.get() }
            await Task.yield()
        }
    }

    @Test func `the new kind runs on all nodes with a retry, and returns the checksums`() async throws {
        let texts = (0..<30).map { "frame \($0)" }
        var wanted = request(texts)
        wanted.failFile = 7
        let request = wanted
        try await NodesInProcess.run([2, 2]) { nodes in
            let coordinator = nodes[0].coordinator
            let job = try await coordinator.submit(Self.job(request))
            let (report, events) = try await NodesInProcess.report(of: job, at: coordinator)
            #expect(report.state == .done && report.completed == 30 && report.failed == 0)
            let retries = events.compactMap { if case .retrying(_, _, let reason, _) = $0.kind { reason } else { nil } }
            #expect(retries.count == 1, "\(retries)")
            let found = try await Self.results(of: job, at: coordinator)
            #expect(found == Dictionary(uniqueKeysWithValues: texts.enumerated().map { ($0, Self.digest($1)) }))
            // As a command fetches them, from elsewhere.
            let remote = try Coordinator.resolve(id: coordinator.id, using: nodes[1].system)
            let page = try await remote.page(ChecksumPage.self, of: job, from: 28)
            #expect(page.digests == [28: Self.digest("frame 28"), 29: Self.digest("frame 29")] && page.total == 30)
            #expect(try await remote.page(ChecksumPage.self, of: job, from: .min).digests == found)
            let error = await #expect(throws: RemoteError.self) {
                _ = try await remote.results(ResultsRequest(job: job, page: "nothing"))
            }
            #expect(error?.kind == .noSuchMethod)
        }
    }

    @Test func `the new kind is asked for in JSON, and says what it did in words and in JSON`() async throws {
        let request = request(["one", "two"])
        let text = #"{"kind": "checksum", "paths": ["\#(request.paths[0])", "\#(request.paths[1])"], "priority": 3}"#
        let submission = try Submission(json: ByteBuffer(string: text))
        #expect(submission.request.options.priority == 3)
        try await NodesInProcess.run([1, 1]) { nodes in
            let job = try await nodes[0].coordinator.submit(submission)
            let (_, events) = try await NodesInProcess.report(of: job, at: nodes[0].coordinator)
            let special = events.compactMap { if case .special(let event) = $0.kind { event } else { nil } }
            let digests = ["one", "two"].map { HexText.of(Self.digest($0)) }
            #expect(
                Set(special.compactMap(\.words)) == Set(zip(digests, request.paths).map { "\($0)  \($1)" }))
            let fields = try special.map { String(decoding: try JSONEncoder().encode($0.fields), as: UTF8.self) }
            #expect(
                fields.contains { $0.contains(#""sha256":"\#(digests[1])""#) }
                    && special.allSatisfy { $0.name == "checksum" })
        }
        for (text, words) in [
            (#"{"kind": "checksum"}"#, "`paths` is missing: the absolute paths of files"),
            (#"{"kind": "checksum", "paths": "/a"}"#, "`paths` must be a list of texts in quotes"),
            (#"{"kind": "checksum", "paths": [1]}"#, "`paths` must be a list of texts in quotes"),
            (#"{"kind": "checksum", "paths": []}"#, "a job has 1 to 100000 files"),
            (
                #"{"kind": "checksum", "path": "/a"}"#,
                "there is no `path` in a checksum job: it has kind, paths, priority, retries, token"
            ),
        ] {
            let error = #expect(throws: SkyError.self) { try Submission(json: ByteBuffer(string: text)) }
            #expect(error?.message == words)
        }
    }

    @Test func `the new kind goes on after a coordinator's restart, and uses cached results`() async throws {
        let request = request(["one", "two", "three"])
        let data = ScratchFolder()
        // Without a slot nothing of it is done before the restart.
        let id = try await NodesInProcess.run([0], journal: journal(data.path)) { nodes in
            try await nodes[0].coordinator.submit(Self.job(request))
        }
        try await NodesInProcess.run([1], journal: journal(data.path)) { nodes in
            let coordinator = nodes[0].coordinator
            let (report, _) = try await NodesInProcess.report(of: id, at: coordinator)
            #expect(report.state == .done && report.completed == 3 && (report.cached ?? 0) == 0)
            let again = try await coordinator.submit(Self.job(request))
            let (cached, _) = try await NodesInProcess.report(of: again, at: coordinator)
            #expect(cached.completed == 3 && cached.cached == 3, "no file was read again")
            #expect(try await Self.results(of: again, at: coordinator)[1] == Self.digest("two"))
        }
    }

    @Test func `a request of the new kind is validated like any other`() async throws {
        try await NodesInProcess.run([1]) { nodes in
            await #expect(throws: (any Error).self) {
                _ = try await nodes[0].coordinator.submit(Self.job(ChecksumRequest(paths: ["m13"])))
            }
        }
    }
}
