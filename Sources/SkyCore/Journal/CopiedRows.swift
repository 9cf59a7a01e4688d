import Foundation
import NIOCore
import NIOFoundationCompat
import Transport

/// Rows of a journal, packed for the wire. A body begins with its version and how long the coordinator has run; then come the
/// rows, each with its kind. Numbers are big-endian.
struct CopiedRows: LogContent, Codable, Hashable {
    let body: ByteBuffer
    let digest: UInt64
    var byteCount: Int { body.readableBytes }
    /// Whether this only stands for rows, of a journal of which nobody keeps a copy.
    var isMark: Bool { body.readableBytes == 0 }

    var makesRoom: Bool { (try? rows())?.rows.contains(where: \.isDeletion) == true }

    private static let version: UInt8 = 1
    /// The version of a body from which payloads are left out. It is never sent.
    private static let trimmedVersion: UInt8 = 2
    /// The payloads that are left out where a result is kept beside them have this many bytes at least.
    private static let longPayload = 1024

    /// Rows that came from elsewhere. They are not looked into before they are stored.
    init(body: ByteBuffer) {
        self.body = body
        digest = body.contentDigest
    }

    /// - Parameter ran: how long the coordinator has run, in all its incarnations.
    init(_ rows: [JournalRow], ran: Duration?) {
        var body = ByteBuffer()
        body.reserveCapacity(rows.reduce(16) { $0 + $1.byteCount })
        body.writeInteger(CopiedRows.version)
        body.writeInteger(ran.map(Journal.milliseconds) ?? -1)
        for row in rows { body.write(row) }
        self.init(body: body)
    }

    private init(digest: UInt64) { (body, self.digest) = (ByteBuffer(), digest) }

    /// Stands for rows that are stored here and sent to nobody, which spares the work of packing them.
    static func mark() -> CopiedRows { CopiedRows(digest: .random(in: .min ... .max)) }

    init(from decoder: any Decoder) throws {
        self.init(body: try decoder.singleValueContainer().decode(ByteBuffer.self))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(body)
    }

    /// The body as a journal keeps it that holds the results themselves, too: without their long payloads. So those are not written
    /// twice.
    ///
    /// - Parameters:
    ///   - rows: the rows in the body.
    ///   - ran: how long the coordinator has run, as it is in the body.
    func trimmed(_ rows: [JournalRow], ran: Duration?) -> ByteBuffer {
        func isLong(_ row: JournalRow) -> Bool {
            if case .result(let result) = row { result.payload.readableBytes >= CopiedRows.longPayload } else { false }
        }
        guard rows.contains(where: isLong) else { return body }
        var trimmed = ByteBuffer()
        trimmed.writeInteger(CopiedRows.trimmedVersion)
        trimmed.writeInteger(ran.map(Journal.milliseconds) ?? -1)
        for row in rows {
            if case .result(var result) = row, isLong(row) {
                result.payload.clear()
                trimmed.write(result, as: .resultElsewhere)
            } else {
                trimmed.write(row)
            }
        }
        return trimmed
    }

    /// The rows that a journal keeps.
    ///
    /// - Parameters:
    ///   - kept: what `trimmed` has returned.
    ///   - payload: looks up the payload of a task.
    /// - Returns: `nil` where they cannot be read. Where a payload is not what it was, the digest is another.
    init?(kept: ByteBuffer, payload: (JobID, Int) throws -> ByteBuffer?) rethrows {
        var body = kept
        guard body.getInteger(at: body.readerIndex, as: UInt8.self) == CopiedRows.trimmedVersion else {
            self.init(body: kept)
            return
        }
        body.moveReaderIndex(forwardBy: 1)
        guard let ran = body.readInteger(as: Int64.self) else { return nil }
        var rows: [JournalRow] = []
        while body.readableBytes > 0 {
            let isElsewhere = body.getInteger(at: body.readerIndex) == ByteBuffer.Kind.resultElsewhere.rawValue
            guard var row = body.readRow(mayBeElsewhere: true) else { return nil }
            if isElsewhere, case .result(var result) = row {
                guard let found = try payload(result.job, result.task) else { return nil }
                result.payload = found
                row = .result(result)
            }
            rows.append(row)
        }
        self.init(rows, ran: ran < 0 ? nil : .milliseconds(ran))
    }

    /// The rows, and how long the coordinator has run.
    ///
    /// - Throws: `JournalError` of the kind `newer` or `damaged` where they cannot be read.
    func rows() throws(JournalError) -> (rows: [JournalRow], ran: Duration?) {
        var body = body
        guard let version = body.readInteger(as: UInt8.self), let ran = body.readInteger(as: Int64.self) else {
            throw JournalError(.damaged, "a batch of a copy is empty")
        }
        guard version == CopiedRows.version else {
            throw JournalError(.newer, "a batch of a copy comes from a later version of this program")
        }
        var rows: [JournalRow] = []
        while body.readableBytes > 0 {
            guard let row = body.readRow() else { throw JournalError(.damaged, "a batch of a copy cannot be read") }
            rows.append(row)
        }
        return (rows, ran < 0 ? nil : .milliseconds(ran))
    }
}

extension ByteBuffer {
    /// The kinds of rows. Their numbers never change.
    fileprivate enum Kind: UInt8 {
        case job = 1
        case result, failure, report, risk, deletion, restart, coordinator
        /// A row that could not be stored on the primary either.
        case nothing
        /// A result whose payload is not here, because it is kept beside it.
        case resultElsewhere
    }

    fileprivate mutating func write(_ row: JournalRow) {
        switch row {
        case .job(let job):
            begin(.job, job.id)
            write(job.token.map { Data($0.utf8) })
            write(job.request)
            writeInteger(job.submitted)
            write(job.program.map { Data($0.utf8) })
            writeInteger(job.submittedRun ?? -1)
            writeInteger(job.since ?? -1)
        case .result(let result): write(result, as: .result)
        case .failure(let job, let task, let reason, let isBadInput):
            begin(.failure, job)
            writeInteger(UInt32(clamping: task))
            write(reason)
            writeInteger(isBadInput ? 1 : 0, as: UInt8.self)
        case .report(let job, let text, let ended, let endedRun):
            begin(.report, job)
            write(text)
            writeInteger(ended)
            writeInteger(endedRun)
        case .risk(let job, let risk):
            begin(.risk, job)
            writeInteger(UInt32(clamping: risk.task.index))
            writeInteger(risk.node.rawValue)
            writeInteger(risk.isAlone ? 1 : 0, as: UInt8.self)
        case .deletion(let job): begin(.deletion, job)
        case .restart(let job, let program, let since):
            begin(.restart, job)
            write(program.map { Data($0.utf8) })
            writeInteger(since)
        case .coordinator(let id, let secret):
            writeInteger(Kind.coordinator.rawValue)
            writeInteger(id.rawValue)
            write(secret)
        case .unwritable: writeInteger(Kind.nothing.rawValue)
        }
    }

    fileprivate mutating func write(_ result: JournalRow.ResultRow, as kind: Kind) {
        begin(kind, result.job)
        writeInteger(UInt32(clamping: result.task))
        write(result.node)
        writeInteger(result.duration)
        writeInteger(UInt32(clamping: result.payload.readableBytes))
        writeImmutableBuffer(result.payload)
    }

    private mutating func begin(_ kind: Kind, _ job: JobID) {
        writeInteger(kind.rawValue)
        writeInteger(job.rawValue)
    }

    /// A length, or the highest number for nothing, and the bytes.
    private mutating func write(_ data: Data?) {
        guard let data else { return _ = writeInteger(UInt32.max) }
        writeInteger(UInt32(clamping: data.count))
        writeBytes(data)
    }

    private mutating func write(_ text: String) {
        writeInteger(UInt32(clamping: text.utf8.count))
        writeString(text)
    }

    /// The next row; `nil` if there is none that can be read.
    ///
    /// - Parameter mayBeElsewhere: whether the payload of a result may be missing.
    fileprivate mutating func readRow(mayBeElsewhere: Bool = false) -> JournalRow? {
        guard let kind = readInteger(as: UInt8.self).flatMap(Kind.init),
            kind != .resultElsewhere || mayBeElsewhere
        else { return nil }
        if kind == .nothing { return .unwritable(job: JobID(rawValue: 0), reason: "it could not be stored") }
        guard let id = readInteger(as: UInt64.self) else { return nil }
        let job = JobID(rawValue: id)
        switch kind {
        case .job:
            guard let token = readOptionalText(), let request = readData(), let submitted = readInteger(as: Int64.self),
                let program = readOptionalText(), let run = readInteger(as: Int64.self),
                let since = readInteger(as: Int64.self)
            else { return nil }
            return .job(
                JournalRow.JobRow(
                    id: job, token: token, request: request, submitted: submitted, program: program,
                    submittedRun: run < 0 ? nil : run, since: since < 0 ? nil : since))
        case .result, .resultElsewhere:
            guard let task = readTask(), let node = readText(), let duration = readInteger(as: Int64.self),
                let payload = readLength().flatMap({ readSlice(length: $0) })
            else { return nil }
            return .result(
                JournalRow.ResultRow(job: job, task: task, node: node, duration: duration, payload: payload))
        case .failure:
            guard let task = readTask(), let reason = readText(), let isBadInput = readInteger(as: UInt8.self) else {
                return nil
            }
            return .failure(job: job, task: task, reason: reason, isBadInput: isBadInput != 0)
        case .report:
            guard let text = readData(), let ended = readInteger(as: Int64.self),
                let endedRun = readInteger(as: Int64.self)
            else { return nil }
            return .report(job: job, text: text, ended: ended, endedRun: endedRun)
        case .risk:
            guard let task = readTask(), let node = readInteger(as: UInt64.self),
                let isAlone = readInteger(as: UInt8.self)
            else { return nil }
            return .risk(
                job: job, TaskRisk(task: TaskID(task), node: NodeID(rawValue: node), isAlone: isAlone != 0))
        case .deletion: return .deletion(job: job)
        case .restart:
            guard let program = readOptionalText(), let since = readInteger(as: Int64.self) else { return nil }
            return .restart(job: job, program: program, since: since)
        case .coordinator:
            guard let secret = readData() else { return nil }
            return .coordinator(CoordinatorID(rawValue: id), secret: secret)
        case .nothing: return nil
        }
    }

    private mutating func readTask() -> Int? {
        guard let task = readInteger(as: UInt32.self), task < TaskID.countLimit else { return nil }
        return Int(task)
    }

    /// A length, if so much is there.
    private mutating func readLength() -> Int? {
        guard let length = readInteger(as: UInt32.self), length <= readableBytes else { return nil }
        return Int(length)
    }

    private mutating func readData() -> Data? { readLength().flatMap { readData(length: $0) } }

    private mutating func readText() -> String? {
        guard let length = readLength(), let bytes = readBytes(length: length) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The text, or no text; the outer `nil` where it cannot be read.
    private mutating func readOptionalText() -> String?? {
        guard let length = getInteger(at: readerIndex, as: UInt32.self) else { return nil }
        guard length != .max else {
            moveReaderIndex(forwardBy: 4)
            return .some(nil)
        }
        return readText().map { .some($0) }
    }
}
