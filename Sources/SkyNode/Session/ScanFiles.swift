import SkyCore

/// Writes the results of one image.
struct ScanFiles {
    let item: ScanPlan.Item
    let plan: ScanPlan
    let catalogue: Catalogue

    /// Writes every file, each beside its place first and then renamed, so that none is ever half-written.
    ///
    /// - Returns: the paths.
    /// - Throws: `SkyError` naming the file and the reason.
    func write(preview: ImagePreview?) throws(SkyError) -> [String] {
        let table = CatalogueTable(
            sources: catalogue.sources, configuration: plan.configuration, image: item.name)
        var files = [item.stem + ".csv", item.stem + ".cat.fits", item.stem + ".reg"]
        try table.writeCSV(to: files[0])
        try table.writeFITS(to: files[1])
        try table.writeRegions(to: files[2])
        if let preview {
            let sectors = try SectorGrid(info: catalogue.info, configuration: plan.configuration).sectors
            try Picture(preview, sources: catalogue.sources, sectors: sectors.count > 1 ? sectors : [])
                .write(to: item.stem + ".png")
            files.append(item.stem + ".png")
        }
        return files
    }
}
