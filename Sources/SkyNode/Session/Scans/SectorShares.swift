import NIOConcurrencyHelpers
import SkyCore

/// How many sectors each node scanned, counted from a job's events. Other tasks (header, backgrounds, picture) do not count,
/// because people do not mean them by a share of the work.
final class SectorShares: Sendable {
    private let shares = NIOLockedValueBox<[String: Int]>([:])

    func count(_ batch: EventBatch) {
        shares.withLockedValue { shares in
            for event in batch.events {
                if case .completed(let task, let node) = event.kind, task.hasPrefix("sector ") {
                    shares[node, default: 0] += 1
                }
            }
        }
    }

    /// The shares in the order of the nodes' names.
    var list: [(node: String, sectors: Int)] {
        shares.withLockedValue { $0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
