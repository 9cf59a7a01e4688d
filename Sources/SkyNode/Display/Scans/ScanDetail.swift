/// How much a scan tells people of each image.
enum ScanDetail: Comparable {
    /// Only what went wrong.
    case errors
    /// One line for each image: a night's images would fill screens otherwise.
    case line
    /// The result, with the files that were written.
    case summary
    /// The summary, and every completed task.
    case everything

    init(isQuiet: Bool, isVerbose: Bool, images: Int) {
        self = isQuiet ? .errors : isVerbose ? .everything : images > 1 ? .line : .summary
    }

    /// The detail for an image that is one of several in its file.
    var ofOneInFile: ScanDetail { self == .summary ? .line : self }
}
