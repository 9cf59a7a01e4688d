import SkyCore

/// Writes the results of one image.
struct ScanFiles {
    /// The image, as the tables name it.
    let name: String
    /// Folder and name of what is written, without an ending.
    let stem: String
    let configuration: ScanConfiguration
    let catalogue: Catalogue

    /// Writes every file, each beside its place first and then renamed, so that none is ever half-written.
    ///
    /// - Returns: the paths.
    /// - Throws: `SkyError` naming the file and the reason.
    func write(preview: ImagePreview?) throws(SkyError) -> [String] {
        var configuration = configuration
        configuration.filter = catalogue.filter
        let table = CatalogueTable(sources: catalogue.sources, configuration: configuration, image: name)
        var files = [stem + ".csv", stem + ".cat.fits", stem + ".reg"]
        try table.writeCSV(to: files[0])
        try table.writeFITS(to: files[1])
        try table.writeRegions(to: files[2])
        if let preview {
            let sectors = try SectorGrid(info: catalogue.info, configuration: configuration).sectors
            try Picture(preview, sources: catalogue.sources, sectors: sectors.count > 1 ? sectors : [])
                .write(to: stem + ".png")
            files.append(stem + ".png")
        }
        return files
    }
}
