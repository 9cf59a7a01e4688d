/// Who scanned a sector, and how long it took.
public struct SectorRun: Hashable, Codable, Sendable {
    /// Index of the sector in the grid.
    public var sector: Int
    /// Name of the node; empty where an earlier result answered.
    public var node: String
    /// Of the try that succeeded; of an earlier result nothing.
    public var duration: Duration
    /// Sources that it found, before CLEAN.
    public var sources: Int

    /// A run.
    public init(sector: Int, node: String, duration: Duration, sources: Int) {
        self.sector = sector
        self.node = node
        self.duration = duration
        self.sources = sources
    }
}
