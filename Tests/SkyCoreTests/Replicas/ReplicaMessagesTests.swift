import Foundation
import NIOCore
import Testing
import Transport

@testable import SkyCore

/// Messages about copies, on the wire and at the door.
struct ReplicaMessagesTests {
    private let result = JournalRow.result(
        JournalRow.ResultRow(
            job: JobID(rawValue: 7), task: 3, node: "dome-1", duration: 1_000_000,
            payload: ByteBuffer(string: "payload"), cacheKey: nil))

    private func call(_ request: ReplicaRequest<CopiedRows>) -> ReplicaCall {
        ReplicaCall(coordinator: CoordinatorID(rawValue: 1), to: ReplicaID(rawValue: 2), request: request)
    }

    private func append(term: UInt64, _ batch: LogBatch<CopiedRows>) -> ReplicaRequest<CopiedRows> {
        .append(
            AppendRequest(
                term: term, primary: ReplicaID(rawValue: 3), previous: batch.previous, batches: [batch],
                head: batch.position))
    }

    @Test func `rows come out of a batch as they went in`() throws {
        let rows: [JournalRow] = [
            .job(
                JournalRow.JobRow(
                    id: JobID(rawValue: 7), token: "once", request: Data([1, 2]), submitted: 5, program: nil,
                    submittedRun: 9, since: nil)),
            result, .failure(job: JobID(rawValue: 7), task: 4, reason: "größe", isBadInput: true),
            .report(job: JobID(rawValue: 7), text: Data([3]), ended: 6, endedRun: 10),
            .risk(
                job: JobID(rawValue: 7), TaskRisk(task: TaskID(5), node: NodeID(rawValue: 11), isAlone: true)),
            .restart(job: JobID(rawValue: 7), program: "0.2.0", since: 12), .deletion(job: JobID(rawValue: 7)),
            .coordinator(CoordinatorID(rawValue: 13), secret: Data([4, 5])),
            .unwritable(job: JobID(rawValue: 0), reason: "it could not be stored"),
        ]
        let packed = CopiedRows(rows, ran: .seconds(3))
        let sent = try WireCoder.decode(CopiedRows.self, from: try WireCoder.encode(packed))
        #expect(sent == packed)
        let (found, ran) = try sent.rows()
        #expect(ran == .seconds(3) && "\(found)" == "\(rows)")
    }

    @Test func `rows that are cut, or from a later version, are refused`() throws {
        let whole = CopiedRows([result, result], ran: nil).body
        for length in 0..<whole.readableBytes {
            let cut = CopiedRows(body: try #require(whole.getSlice(at: 0, length: length)))
            // A cut between two rows, or before the first, leaves whole rows.
            if let (rows, _) = try? cut.rows() { #expect(rows.count < 2) }
        }
        var later = whole
        later.setInteger(UInt8(2), at: 0)
        #expect(throws: JournalError.self) { _ = try CopiedRows(body: later).rows() }
    }

    private func long(_ count: Int, task: Int = 3) -> JournalRow {
        .result(
            JournalRow.ResultRow(
                job: JobID(rawValue: 7), task: task, node: "dome-1", duration: 1_000_000,
                payload: ByteBuffer(repeating: 0x55, count: count), cacheKey: nil))
    }

    @Test func `a journal keeps a batch without its long payloads, and gets it back whole`() throws {
        let rows = [
            long(1023), long(1024), .unwritable(job: JobID(rawValue: 0), reason: ""), long(90_000, task: 4), result,
        ]
        let whole = CopiedRows(rows, ran: .seconds(3))
        let kept = whole.trimmed(rows, ran: .seconds(3))
        #expect(kept.readableBytes < 1400)
        let payloads = [3: ByteBuffer(repeating: 0x55, count: 1024), 4: ByteBuffer(repeating: 0x55, count: 90_000)]
        #expect(CopiedRows(kept: kept) { $0 == JobID(rawValue: 7) ? payloads[$1] : nil } == whole)
        #expect(CopiedRows(kept: kept) { _, _ in nil } == nil)
        // Another payload is noticed by the digest, with which the batch is checked.
        #expect(CopiedRows(kept: kept) { _, _ in ByteBuffer() }?.digest != whole.digest)
        for length in 0..<kept.readableBytes {
            let cut = try #require(kept.getSlice(at: 0, length: length))
            #expect(CopiedRows(kept: cut) { payloads[$1] }?.digest != whole.digest)
        }
        // It is never sent.
        #expect(throws: JournalError.self) { _ = try CopiedRows(body: kept).rows() }
        let short = CopiedRows([result], ran: nil)
        #expect(short.trimmed([result], ran: nil) == short.body)
    }

    @Test func `a batch that was changed on its way is not whole`() throws {
        let batch = LogBatch(after: .start, term: 1, content: CopiedRows([result], ran: nil))
        #expect(batch.isWhole)
        var changed = batch
        var body = try #require(batch.content).body
        body.setInteger(UInt8(0xFF), at: body.writerIndex - 1)
        changed.content = CopiedRows(body: body)
        #expect(!changed.isWhole)
    }

    @Test func `numbers that would overflow are refused at the door`() throws {
        let batch = LogBatch(after: .start, term: 1, content: CopiedRows([result], ran: nil))
        try call(append(term: 1, batch)).validate()
        #expect(throws: InvalidMessage.self) { try call(append(term: .max, batch)).validate() }
        var far = batch
        far.previous.number = .max
        #expect(throws: InvalidMessage.self) { try call(append(term: 1, far)).validate() }
        var crowded = batch
        crowded.set = ReplicaSet(members: (1...6).map { ReplicaID(rawValue: $0) })
        #expect(throws: InvalidMessage.self) { try call(append(term: 1, crowded)).validate() }
        let part = SnapshotRequest<CopiedRows>(
            term: 1, primary: ReplicaID(rawValue: 3), id: 1, number: .max, part: .batches([]))
        #expect(throws: InvalidMessage.self) { try call(.snapshot(part)).validate() }
        let promise = PromiseRequest(
            term: 1 << 30, candidate: ReplicaID(rawValue: 3), position: .start, isTrial: true)
        #expect(throws: InvalidMessage.self) { try call(.promise(promise)).validate() }
        let reply = ReplicaReply(promised: .max, position: nil, isGranted: false)
        #expect(throws: InvalidMessage.self) { try reply.validate() }
        let talkative = ReplicaReply(
            promised: 1, position: nil, isGranted: false, isFull: true, reason: String(repeating: "a", count: 2049))
        #expect(throws: InvalidMessage.self) { try talkative.validate() }
    }

    /// An answer as nodes of version 0.2.0 make and read it.
    private struct OldReply: Codable {
        var promised: UInt64
        var position: LogPosition?
        var isGranted: Bool
        var isAhead = false
        var isFull = false
        var hasEnded: Bool?
        var wasDamaged: Bool?
        var isUnneeded: Bool?
        var share: Int?
        var heedsPause: Bool?
    }

    @Test func `nodes of version 0_2_0 read an answer with a reason, and theirs has none`() throws {
        let reply = ReplicaReply(promised: 3, position: nil, isGranted: false, isFull: true, reason: "Not a directory")
        let old = try WireCoder.decode(OldReply.self, from: try WireCoder.encode(reply))
        #expect(old.promised == 3 && old.isFull && !old.isGranted)
        let read = try WireCoder.decode(ReplicaReply.self, from: try WireCoder.encode(old))
        #expect(read.isFull && read.reason == nil)
        #expect(try WireCoder.decode(ReplicaReply.self, from: try WireCoder.encode(reply)) == reply)
    }

    @Test func `only a node without room is said to have none`() {
        #expect(JournalError(.full, "/data: there is no room on the disk").reasonForOthers == nil)
        #expect(JournalError(.inaccessible, "/data/copies: No\nsuch").reasonForOthers == "/data/copies: No such")
        #expect(Replica.Hindrance.full.words(ofMany: false) == "has no room")
        let unusable = Replica.Hindrance.unusable("/data/copies: Not a directory")
        #expect(unusable.words(ofMany: false) == "cannot store its copy (/data/copies: Not a directory)")
        #expect(unusable.words(ofMany: true).hasPrefix("cannot store their copies ("))
    }
}
