/// What came of one image of `skynode scan`, for the batch that it belongs to.
struct ImageOutcome: Sendable {
    var status: ExitStatus
    /// Its place among all images.
    var place: Int
    /// The image, as it is called among those of its file.
    var name = ""
    /// Whether its catalogue is there, and of how many sources.
    var isWritten = false
    var sources = 0
    /// Whether its file holds masks and weights only.
    var isLeftOut = false
    /// Whether its sources are kept for the catalogue of all.
    var hasSection = false
    /// Whether it is known what has changed in it since the reference.
    var isCompared = false
    /// Further images that were found in its file.
    var others: [ScanItem] = []
}
