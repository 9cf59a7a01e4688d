import Base

/// Puts check images together from the data of the sectors, and writes them.
package struct CheckImageFiles: Sendable {
    private let images: [CheckImage]
    private let info: ImageInfo
    private var background: BackgroundMap?
    private var noise: BackgroundMap?
    private var subtracted: [Float] = []
    private var filtered: [Float] = []
    private var labels: [Int32] = []

    /// - Parameter info: The information on the image, from its catalogue.
    package init(_ images: [CheckImage], of info: ImageInfo) {
        (self.images, self.info) = (images, info)
        let (parts, area) = (CheckParts(of: images), info.width * info.height)
        // NaN marks the pixels of a sector that failed, about which nothing is known.
        if parts.contains(.subtracted) { subtracted = [Float](repeating: .nan, count: area) }
        if parts.contains(.filtered) { filtered = [Float](repeating: .nan, count: area) }
        if parts.contains(.footprints) { labels = [Int32](repeating: 0, count: area) }
    }

    /// Adds a page; a part that does not fit the image is left out.
    package mutating func add(_ page: CheckPixelsPage) {
        func fits(_ map: BackgroundMap) -> Bool { map.width == info.width && map.height == info.height }
        background = page.background.flatMap { fits($0) ? $0 : nil } ?? background
        noise = page.noise.flatMap { fits($0) ? $0 : nil } ?? noise
        if let part = page.part, info.contains(part.core) {
            part.subtracted?.copy(to: part.core, of: &subtracted, width: info.width)
            part.filtered?.copy(to: part.core, of: &filtered, width: info.width)
        }
        guard !labels.isEmpty else { return }
        for labelled in page.footprints ?? [] where labelled.footprint.isSound(in: info) {
            let number = Int32(clamping: labelled.number)
            labelled.footprint.forEachPixel(width: info.width) { labels[$0] = number }
        }
    }

    /// Writes each image beside the catalogue. They get their places with the other files.
    ///
    /// - Parameters:
    ///   - stem: The folder and the name without an ending.
    ///   - catalogue: The catalogue whose apertures are drawn.
    /// - Returns: The paths.
    /// - Throws: `SkyError` naming the file and the reason.
    package func write(
        stem: String, catalogue: Catalogue, configuration: ScanConfiguration, among staged: StagedFiles
    ) throws(SkyError) -> [String] {
        var files: [String] = []
        let cards = (catalogue.info.header ?? []).filter(ImageCards.isOfPlace)
        for image in images {
            let path = stem + image.ending
            let pixels = pixels(of: image, catalogue, configuration)
            let coding = PixelCoding(image == .segmentation ? .int : .float, for: pixels)
            try FITSWriter.write(to: path, as: .checkImage, among: staged) { writer in
                writer.image(width: info.width, height: info.height, coding: coding)
                for card in cards { writer.record(card) }
                writer.card(FITSCard("CHECKIMG", .text(image.rawValue), "what a scan saw"))
                for card in FITSCard.program(arithmetic: catalogue.arithmetic) { writer.card(card) }
                writer.pixels(pixels, coding: coding)
            }
            files.append(path)
        }
        return files
    }

    private func pixels(of image: CheckImage, _ catalogue: Catalogue, _ configuration: ScanConfiguration) -> [Float] {
        switch image {
        case .background: Self.levels(background, info)
        case .rms: Self.levels(noise, info)
        case .subtracted: subtracted
        case .filtered: filtered
        case .segmentation: labels.map { Float($0) }
        case .objects: zip(subtracted, labels).map { $1 > 0 ? $0 : 0 }
        case .apertures:
            ApertureOutlines(
                width: info.width, height: info.height, ink: 30 * (background?.globalRMS ?? 1)
            ).drawn(over: subtracted, catalogue.sources, configuration)
        }
    }

    /// The value of the map at every pixel; NaN without a map.
    private static func levels(_ map: BackgroundMap?, _ info: ImageInfo) -> [Float] {
        guard let map else { return [Float](repeating: .nan, count: info.width * info.height) }
        var pixels = [Float](repeating: 0, count: info.width * info.height)
        map.subtract(from: &pixels, rect: PixelRect(x: 0, y: 0, width: info.width, height: info.height))
        return pixels.map { 0 - $0 }
    }
}

extension OutputKind {
    /// A check image.
    package static let checkImage = OutputKind("check image", isFITS: true) { start in
        start.isMarked(hdus: 1) { cards in cards.contains { $0.hasPrefix("CHECKIMG=") } }
    }
}

/// Tells which of an image's header cards say where its pixels lie in the sky and what it shows.
enum ImageCards {
    private static let names: Set<String> = [
        "WCSAXES", "WCSNAME", "RADESYS", "RADECSYS", "EQUINOX", "EPOCH", "LONPOLE", "LATPOLE", "OBJECT", "DATE-OBS",
        "MJD-OBS", "TIMESYS", "FILTER", "EXPTIME", "BUNIT", "A_ORDER", "B_ORDER", "AP_ORDER", "BP_ORDER",
    ]
    private static let beginnings = ["CTYPE", "CRVAL", "CRPIX", "CDELT", "CROTA", "CUNIT"]
    private static let patterns = ["CD", "PC", "PV", "A", "B", "AP", "BP"]

    static func isOfPlace(_ card: String) -> Bool {
        guard card.utf8.count == 80, card.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return false }
        let name = String(card.prefix(8)).replacing(" ", with: "")
        guard card.dropFirst(8).hasPrefix("=") else { return false }
        if names.contains(name) { return true }
        // The keyword ends with an axis, or with two numbers; a letter follows for an alternative system.
        if let beginning = beginnings.first(where: name.hasPrefix) {
            return ["1", "2"].contains(name.dropFirst(beginning.count).prefix(1))
        }
        let parts = name.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count >= 2, let last = parts.last, !last.isEmpty, last.first?.isNumber == true else { return false }
        let head = parts.dropLast().joined(separator: "_")
        return patterns.contains { pattern in
            head == pattern
                || (head.hasPrefix(pattern) && head.dropFirst(pattern.count).allSatisfy { $0.isNumber || $0 == "_" })
        }
    }
}
