/// The node that scanned a sector, and how long it took.
public struct SectorRun: Hashable, Codable, Sendable {
    /// Index of the sector in the grid.
    public var sector: Int
    /// The name of the node; empty if an earlier result was used.
    public var node: String
    /// The duration of the attempt that succeeded; zero for an earlier result.
    public var duration: Duration
    /// The number of sources that it found, before CLEAN.
    public var sources: Int

    /// A run.
    public init(sector: Int, node: String, duration: Duration, sources: Int) {
        self.sector = sector
        self.node = node
        self.duration = duration
        self.sources = sources
    }
}
