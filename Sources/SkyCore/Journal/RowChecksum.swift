import CDeflate
import Foundation
import NIOCore

/// The CRC-32 of a row of the journal. It is stored with the row and checked whenever the row is read, because a disk, its
/// cable or the memory may change a bit, and SQLite would return the row as if nothing had happened.
struct RowChecksum {
    private var value: UInt32 = 0

    /// The checksum as SQLite stores it.
    var stored: Int64 { Int64(value) }

    mutating func add(_ number: Int64) {
        withUnsafeBytes(of: number.littleEndian) { add($0) }
    }

    mutating func add(_ text: String?) {
        // No text must differ from an empty text.
        guard let text else { return add(-1) }
        add(Data(text.utf8))
    }

    mutating func add(_ data: Data?) {
        guard let data else { return add(-1) }
        add(Int64(data.count))
        data.withUnsafeBytes { add($0) }
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        value = libdeflate_crc32(value, start, bytes.count)
    }

    /// The checksum of a result: of its key, its node, its duration and its payload.
    static func result(_ key: Int64, _ node: String, _ duration: Int64, _ payload: Data) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(key)
        checksum.add(node)
        checksum.add(duration)
        checksum.add(payload)
        return checksum.stored
    }

    static func failure(_ key: Int64, _ reason: String, _ isBadInput: Bool) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(key)
        checksum.add(reason)
        checksum.add(isBadInput ? 1 : 0)
        return checksum.stored
    }

    /// The checksum of an earlier result that is kept for later: of its key and its payload.
    static func cache(_ key: Data, _ payload: Data) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(key)
        checksum.add(payload)
        return checksum.stored
    }

    /// The checksum of a job as it was submitted.
    static func job(_ id: Int64, _ token: String?, _ request: Data) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(id)
        checksum.add(token)
        checksum.add(request)
        return checksum.stored
    }

    /// The checksum of a job's report.
    static func report(_ id: Int64, _ report: Data?) -> Int64 {
        var checksum = RowChecksum()
        checksum.add(id)
        checksum.add(report)
        return checksum.stored
    }
}
