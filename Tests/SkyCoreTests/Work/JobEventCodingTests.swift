import Foundation
import NIOCore
import Testing

@testable import SkyCore
@testable import Transport

/// Events are coded by hand, because there is one for each task. Their form is the one that `Codable` gives to an enum.
@Suite struct JobEventCodingTests {
    /// What the compiler makes of the events that jobs of all kinds have.
    private enum Synthesized: Codable {
        case completed(task: String, node: String)
        case retrying(task: String, node: String, reason: String, delay: Duration)
        case failed(task: String, reason: String)
        case ended(JobReport)
    }

    private static let report = JobReport(
        state: .failed, reason: "ein Wölkchen", scheduled: 3, completed: 1, failed: 2, retries: 4,
        duration: .milliseconds(1500), nodes: [NodeShare(name: "one", completed: 1, running: 0)], cached: nil,
        work: nil, bytes: 17)

    private static var pairs: [(JobEvent.Kind, Synthesized)] {
        [
            (.completed(task: "task 1", node: ""), .completed(task: "task 1", node: "")),
            (
                .retrying(task: "a", node: "b", reason: "c", delay: .seconds(2)),
                .retrying(task: "a", node: "b", reason: "c", delay: .seconds(2))
            ),
            (.failed(task: "å", reason: "why"), .failed(task: "å", reason: "why")),
            (.ended(report), .ended(report)),
        ]
    }

    @Test func `events have the form that the compiler would give them, and are read from it`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        for (event, synthesized) in Self.pairs {
            let bytes = try WireCoder.encode(event)
            #expect(try WireCoder.encode(synthesized) == bytes)
            let read = try WireCoder.decode(JobEvent.Kind.self, from: bytes)
            #expect(try encoder.encode(read) == encoder.encode(synthesized))
        }
    }

    @Test func `a name of a later version beside an event is passed over, and what has no name or several is none`()
        throws
    {
        struct Named: Encodable {
            var names: [String]

            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CaseName.self)
                let fields = ["task": "1", "node": "2", "reason": "3"]
                for name in names { try container.encode(fields, forKey: CaseName(name)) }
            }
        }
        func read(_ names: [String]) throws -> JobEvent.Kind {
            try WireCoder.decode(JobEvent.Kind.self, from: WireCoder.encode(Named(names: names)))
        }
        guard case .completed(task: "1", node: "2") = try read(["later", "completed"]) else {
            Issue.record("a name of a later version beside it made it unreadable")
            return
        }
        for names in [[], ["later"], ["completed", "failed"], ["ended"]] {
            #expect(throws: DecodingError.self, "\(names)") { try read(names) }
        }
    }
}
