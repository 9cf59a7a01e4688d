/// What is asked of a contestant.
struct Load: Sendable, Hashable, Codable {
    /// Length of the message, which comes back unchanged.
    var bytes: Int
    /// Calls under way at any time; each that ends is followed by another.
    var window: Int

    /// Latency: nothing but the way there and back.
    static let latency = Load(bytes: 64, window: 1)
    /// Throughput of small calls: what the code costs.
    static let throughput = Load(bytes: 64, window: 64)
    /// Throughput of large calls: what copying costs.
    static let bulk = Load(bytes: 1024 * 1024, window: 4)

    static let all = [latency, throughput, bulk]

    var title: String {
        let size = bytes >= 1024 * 1024 ? "\(bytes / (1024 * 1024)) MiB" : "\(bytes) bytes"
        return window == 1 ? "\(size), one at a time" : "\(size), \(window) in flight"
    }
}
