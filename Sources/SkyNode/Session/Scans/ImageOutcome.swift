/// The outcome of one image of `skynode scan`, for the batch that it belongs to.
struct ImageOutcome: Sendable {
    var status: ExitStatus
    /// Its place among all images.
    var place: Int
    /// The name of the image among those of its file.
    var name = ""
    /// Whether its catalogue has been written, and with how many sources.
    var isWritten = false
    var sources = 0
    /// Whether the catalogue has all sectors.
    var isWhole = false
    /// Whether its file was left out, because it holds only masks and weights.
    var isLeftOut = false
    /// Whether its sources are kept for the catalogue of all images.
    var hasSection = false
    /// Whether its changes since the reference are known.
    var isCompared = false
    /// Further images that were found in its file.
    var others: [ScanItem] = []
}
