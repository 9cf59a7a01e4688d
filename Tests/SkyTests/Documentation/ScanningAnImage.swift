import Sky

// The code of the article of the same name; a test compares them.

/// The stars of an image that are bright enough to be trusted, the brightest first.
func brightStars(in file: String) throws -> [Source] {
    var configuration = ScanConfiguration()
    configuration.threshold = 5
    configuration.zeroPoint = 25
    configuration.apertureDiameters = [6, 12]
    let catalogue = try SkyScan(configuration).catalogue(of: .file(file))
    return catalogue.sources.filter { $0.flags == 0 }.sorted { $0.fluxAuto > $1.fluxAuto }
}

/// Where the sky is empty enough to point a spectrograph at: the number of sources in a frame.
func crowding(of frame: [Float], width: Int, height: Int) throws -> Int {
    var scan = SkyScan(DetectionPreset.sensitive.configuration)
    // A stamp is one sector.
    scan.configuration.sectorSize = nil
    return try scan.catalogue(of: .pixels(width: width, height: height, frame)).sources.count
}

/// Scans a file and leaves a FITS table and DS9 regions beside it.
func writeCatalogue(of file: String, to stem: String) throws {
    let scan = SkyScan()
    let catalogue = try scan.catalogue(of: .file(file))
    let section = CatalogueTable.Section(image: file, filter: catalogue.filter, sources: catalogue.sources)
    let table = CatalogueTable([section], configuration: scan.configuration)
    try table.write(.fits, to: stem + ".cat.fits")
    try table.write(.regions, to: stem + ".reg")
}
