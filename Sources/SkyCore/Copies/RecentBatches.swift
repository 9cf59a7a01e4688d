import DequeModule

/// The last batches of a journal, so that a copy that lacks a few of them need not be made anew.
struct RecentBatches<Content: LogContent>: Sendable {
    private(set) var batches: Deque<LogBatch<Content>> = []
    private var bytes = 0

    /// How much is kept, in batches and bytes.
    static var limit: (batches: Int, bytes: Int) { (256, 16 << 20) }

    mutating func append(_ batch: LogBatch<Content>) {
        batches.append(batch)
        bytes += batch.byteCount
        while batches.count > 1, batches.count > Self.limit.batches || bytes > Self.limit.bytes {
            bytes -= batches.removeFirst().byteCount
        }
    }

    /// The number of the first batch that is kept when these have been appended; `nil` where none is. The batches themselves stay as
    /// they are: whoever only asks need not copy them all.
    func firstNumber(appending added: [LogBatch<Content>]) -> UInt64? {
        var bytes = added.reduce(bytes) { $0 + $1.byteCount }
        let count = batches.count + added.count
        var first = 0
        func batch(_ index: Int) -> LogBatch<Content> {
            index < batches.count ? batches[index] : added[index - batches.count]
        }
        while count - first > 1, count - first > Self.limit.batches || bytes > Self.limit.bytes {
            bytes -= batch(first).byteCount
            first += 1
        }
        return first < count ? batch(first).position.number : nil
    }

    mutating func removeAll() { (batches, bytes) = ([], 0) }

    /// The batches after a position, `bytes` in all at most but one at least; `nil` if they are not all known, or if the
    /// position is not one of this journal.
    func after(_ position: LogPosition, bytes limit: Int) -> [LogBatch<Content>]? {
        guard let first = batches.first, position.number >= first.previous.number else { return nil }
        let index = Int(position.number - first.previous.number)
        guard index < batches.count else { return batches.last?.position == position ? [] : nil }
        guard batches[index].previous == position else { return nil }
        var (found, bytes): ([LogBatch<Content>], Int) = ([], 0)
        for batch in batches[index...] {
            bytes += batch.byteCount
            if !found.isEmpty, bytes > limit { break }
            found.append(batch)
        }
        return found
    }

    /// Whether so much follows a position of this journal that it should not become more: a quarter of the batches that are
    /// kept, or a sixteenth of the bytes.
    func hasMany(after position: LogPosition) -> Bool {
        guard let last = batches.last, last.position.number > position.number else { return false }
        let count = Int(clamping: last.position.number - position.number)
        guard count < Self.limit.batches / 4, count <= batches.count else { return true }
        return batches.suffix(count).reduce(0) { $0 + $1.byteCount } > Self.limit.bytes / 16
    }

    /// Whether a batch follows the last one.
    func isNext(_ batch: LogBatch<Content>) -> Bool { batches.last.map { $0.position == batch.previous } ?? true }

    /// Whether a position is known to be one of this journal.
    func contains(_ position: LogPosition) -> Bool { after(position, bytes: 0) != nil }

    /// The position with a number.
    func position(_ number: UInt64) -> LogPosition? {
        guard let first = batches.first, number >= first.previous.number else { return nil }
        let index = Int(number - first.previous.number)
        return index == 0 ? first.previous : index <= batches.count ? batches[index - 1].position : nil
    }
}
