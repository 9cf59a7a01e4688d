public import Sky
import SkyCore
public import Transport

extension SectorRun: ValidatedMessage {
    /// A report sums up times and sources of as many runs as a message holds. The sums must not overflow.
    public func validate() throws(InvalidMessage) {
        try InvalidMessage.unless(
            (0..<SectorGrid.sectorLimit).contains(sector),
            "sectors are numbered from 0 to \(SectorGrid.sectorLimit - 1)")
        try InvalidMessage.unless(
            node.utf8.count <= ScanTask.labelLimit, "a node's name of \(node.utf8.count) bytes")
        try InvalidMessage.unless(
            (.zero...SectorRun.longestDuration).contains(duration),
            "a sector takes 0 seconds or more, and less than 300 years")
        try InvalidMessage.unless((0...PixelRect.limit).contains(sources), "\(sources) sources in one sector")
    }

    /// The longest time that a journal can store for a task.
    private static let longestDuration = Duration.nanoseconds(Int64.max)
}
