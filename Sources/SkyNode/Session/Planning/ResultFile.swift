import Sky

/// A file that is written for each image.
struct ResultFile: Sendable {
    /// What follows the stem.
    var ending: String
    var kind: OutputKind

    static func catalogue(_ format: CatalogueFormat) -> ResultFile {
        ResultFile(ending: format.ending, kind: .catalogue.asFITS(format == .fits || format == .ldac))
    }

    static let picture = ResultFile(ending: ".jpg", kind: .picture)
    static let sectorMap = ResultFile(ending: ".sectors.png", kind: .sectorMap)
    static let page = ResultFile(ending: ".html", kind: .page)
    static let pictures = [picture, sectorMap, page]

    static let changeTable = ResultFile(ending: ".changes.csv", kind: .changes)
    static let changePage = ResultFile(ending: ".changes.html", kind: .page)
    static let changes = [changeTable, changePage]

    static let injection = ResultFile(ending: ".injection.csv", kind: .injection)
    static let injectionPlot = ResultFile(ending: ".injection.svg", kind: .injectionPlot)
}

extension StagedFiles {
    /// Writes `bytes` as one of the files of an image.
    ///
    /// - Returns: the path.
    /// - Throws: `SkyError` naming the file and the reason.
    func write(_ bytes: [UInt8], as file: ResultFile, of stem: String) throws(SkyError) -> String {
        try write(bytes, to: stem + file.ending, as: file.kind)
        return stem + file.ending
    }
}
