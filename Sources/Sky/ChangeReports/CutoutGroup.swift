/// The changes that one task draws. They are in one part of the image, whose stars show how the seeing differs there.
package struct CutoutGroup: Sendable {
    package let sector: Sector
    /// The changes, by their places in the list.
    package let changes: [Int]

    /// A task that draws this many changes takes some tenths of a second.
    static let most = 16

    /// The groups of the strongest changes.
    ///
    /// - Parameters:
    ///   - limit: The number of changes that are drawn in all.
    ///   - sectors: The parts that were compared, at least one.
    package static func all(of changes: [EpochChange], limit: Int, in sectors: [Sector]) -> [CutoutGroup] {
        guard !sectors.isEmpty else { return [] }
        let drawn = changes.indices.sorted {
            (-abs(changes[$0].significance), $0) < (-abs(changes[$1].significance), $1)
        }.prefix(limit)
        let parts = Dictionary(grouping: drawn) { part(of: changes[$0], sectors) }.sorted { $0.key < $1.key }
        return parts.flatMap { part, drawn in
            stride(from: 0, to: drawn.count, by: most).map {
                CutoutGroup(sector: sectors[part], changes: Array(drawn[$0..<min(drawn.count, $0 + most)]))
            }
        }
    }

    /// The part in which a change lies; the first one for a change that lies in none.
    private static func part(of change: EpochChange, _ sectors: [Sector]) -> Int {
        let (x, y) = (change.x.rounded() - 1, change.y.rounded() - 1)
        return sectors.firstIndex {
            (Double($0.core.x)..<Double($0.core.right)).contains(x)
                && (Double($0.core.y)..<Double($0.core.bottom)).contains(y)
        } ?? 0
    }
}
