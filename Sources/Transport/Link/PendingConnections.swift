import NIOCore

/// The inbound connections whose handshake is not done: at most so many at once. When one more comes, the source that has most of
/// them loses its oldest, so that a neighbour who opens connections and says nothing crowds out itself and not the others. An
/// honest handshake takes milliseconds.
struct PendingConnections {
    private struct Entry {
        var number: Int
        var source: String
        var channel: any Channel
    }

    private let limit: Int
    private var entries: [ObjectIdentifier: Entry] = [:]
    private var counts: [String: Int] = [:]
    private var lastNumber = 0

    init(limit: Int) {
        self.limit = max(1, limit)
    }

    var count: Int { entries.count }

    /// Enters a connection, and returns the one that has to be closed for it.
    mutating func add(_ channel: any Channel, from source: String) -> (any Channel)? {
        lastNumber += 1
        entries[ObjectIdentifier(channel)] = Entry(number: lastNumber, source: source, channel: channel)
        counts[source, default: 0] += 1
        guard entries.count > limit, let most = counts.values.max() else { return nil }
        let candidates = entries.values.filter { counts[$0.source] == most }
        guard let oldest = candidates.min(by: { $0.number < $1.number }) else { return nil }
        remove(oldest.channel)
        return oldest.channel
    }

    mutating func remove(_ channel: any Channel) {
        guard let entry = entries.removeValue(forKey: ObjectIdentifier(channel)) else { return }
        counts[entry.source]? -= 1
        if counts[entry.source] == 0 { counts[entry.source] = nil }
    }

    mutating func removeAll() -> [any Channel] {
        defer {
            entries = [:]
            counts = [:]
        }
        return entries.values.map(\.channel)
    }
}
