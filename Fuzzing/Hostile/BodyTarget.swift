import NIOCore

@testable import SkyCore
@testable import SkyNode
@testable import Transport

/// A job as people and programs write it: JSON, with hostile values in the fields that there are. The options of
/// a scan have a target of their own (`OptionsTarget`).
enum BodyTarget: FuzzTarget {
    static let name = "body"
    static let limit = RunLimit.brief

    private static let simulation = ValueTree.object([
        .init(key: "kind", value: .text("simulate")), .init(key: "tasks", value: .integer(20)),
        .init(key: "seconds", value: .real(1.5)), .init(key: "priority", value: .integer(3)),
        .init(key: "retries", value: .integer(2)), .init(key: "token", value: .text("night 7")),
    ])
    static let scan = ValueTree.object([
        .init(key: "kind", value: .text("scan")), .init(key: "path", value: .text("/data/m13.fits")),
        .init(key: "hdu", value: .integer(1)), .init(key: "priority", value: .integer(-3)),
    ])
    static func run(_ input: FuzzInput) {
        var input = input
        let choice = input.byte()
        var tree = choice & 1 == 0 ? simulation : scan
        for _ in 0..<choice >> 6 { tree.damage(&input) }
        var text = JSONText()
        text.write(tree, &input)
        take(text.bytes)
    }

    static func take(_ bytes: [UInt8]) {
        do {
            let submission = try Submission(json: ByteBuffer(bytes: bytes))
            // It is stored as it is, and read again at a start.
            let stored = try JournalText.encode(submission.request)
            let read = try JournalText.decode(JobRequest.self, stored)
            try read.validate()
            require((try? JournalText.encode(read)) == stored, "a token finds the same request again")
            require(!submission.request.title.isEmpty, "a job has a title")
        } catch {
            let failure = APIFailure(error)
            require(failure.status.code < 500, "a mistake is the client's: \(failure.message)")
            require(failure.message.utf8.count < 4096, "a short complaint: \(failure.message)")
        }
    }

    static func seeds() -> [[UInt8]] {
        var seeds: [[UInt8]] = []
        for kind in UInt8(0)..<2 {
            seeds.append([kind])
            seeds.append([kind | 64, 1, 0, 1, 5])
            seeds.append([kind | 128, 1, 0, 3, 9, 1, 0, 4, 7])
        }
        return seeds
    }
}
