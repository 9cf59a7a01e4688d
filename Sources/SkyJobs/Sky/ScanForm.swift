package import Base
package import Sky
package import SkyCore

extension SkyRequest: JSONRequest {
    package static var word: String { "scan" }

    package static var fields: [RequestField] {
        [
            RequestField(
                "path", .text(pattern: "^/[ -~]{1,4000}$"), "the absolute path of an image, as a node knows it",
                isRequired: true),
            RequestField("hdu", .whole(0...9999)), RequestField("options", .options),
        ]
    }

    /// Longest path, in bytes (PATH_MAX of Linux, with the zero byte).
    fileprivate static let pathLimit = 4095

    package init(_ form: RequestForm) throws(SkyError) {
        let path = form.text("path") ?? ""
        guard path.hasPrefix("/") else {
            throw SkyError(.badInput, "`path` must be absolute: it begins with /, and is the path on the nodes")
        }
        guard path.utf8.count <= SkyRequest.pathLimit, !path.utf8.contains(0) else {
            throw SkyError(.badInput, "`path` must have \(SkyRequest.pathLimit) bytes at most, and no zero byte")
        }
        let (hdu, options) = (form.whole("hdu"), form.options("options") ?? [:])
        guard hdu == nil || options[ScanKeys.hdu.name] == nil else {
            throw SkyError(.badInput, "give `hdu` or `options.hdu`, not both")
        }
        var configuration = try SkyRequest.configuration(options.filter { !ScanLayers.names.contains($0.key) })
        configuration.hdu = hdu ?? configuration.hdu
        let layers = try ScanLayers(options.filter { ScanLayers.names.contains($0.key) }, path: path)
        var image = ImageReference(path: path, hdu: configuration.hdu, layer: layers.layer)
        image.companions = layers.companions
        self.init(image: image, configuration: configuration)
    }

    private static func configuration(_ options: [String: String]) throws(SkyError) -> ScanConfiguration {
        func shown(_ text: String) -> String { PrintableText.of(String(text.prefix(80))) }
        for (name, value) in options.sorted(by: { $0.key < $1.key }) {
            guard let key = ScanKeys.named(name) else {
                throw SkyError(
                    .badInput, "`options`: there is no `\(shown(name))`; skynode scan --help says what there is")
            }
            guard key.takes(value) else {
                throw SkyError(
                    .badInput, "`options.\(name)` must be \(key.formWords), not \"\(shown(value))\"")
            }
        }
        do {
            return try ScanSettings(options).configuration(reading: nil)
        } catch {
            throw SkyError(.badInput, "`options`: \(error.message)")
        }
    }
}

/// Which part of a file such a job scans: a plane, or a colour of a colour camera's frame, without the pixels of a mask.
///
/// A job makes one catalogue, so it names one of the four colours of a frame. Files are not opened here: a client must not learn by
/// its complaint which files there are on this machine.
private struct ScanLayers {
    /// `nil` for all pixels of the only plane, or of the first.
    let layer: ImageLayer?
    let companions: Companions?

    /// Names of options that are not those of detection.
    static let names = ["plane", "bayer", "colour", "mask"]

    /// - Parameters:
    ///   - options: Those of `names`, as the command line has them.
    ///   - path: The image's path. `%` in a mask's path stands for it, without its ending.
    /// - Throws: `SkyError` that names the option.
    init(_ options: [String: String], path: String) throws(SkyError) {
        var layer = ImageLayer()
        if let text = options["plane"] {
            guard let plane = Int(text), ImageLayer.planes.contains(plane) else {
                throw SkyError(
                    .badInput,
                    "`options.plane` must be a whole number from \(ImageLayer.planes.lowerBound) to "
                        + "\(ImageLayer.planes.upperBound)")
            }
            layer.plane = plane
        }
        switch (options["bayer"], options["colour"]) {
        case (nil, nil): break
        case (let pattern?, let colour?):
            guard let pattern = BayerPattern(rawValue: pattern.uppercased()) else {
                throw SkyError(
                    .badInput,
                    "`options.bayer` must be one of \(BayerPattern.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            guard let colour = BayerPattern.Colour(rawValue: colour.uppercased()) else {
                throw SkyError(.badInput, "`options.colour` must be R, G1, G2 or B")
            }
            layer.bayer = BayerGrid(pattern, colour)
        case (_?, nil), (nil, _?):
            throw SkyError(
                .badInput, "`options.bayer` and `options.colour` go together: a job scans one colour, R, G1, G2 or B")
        }
        self.layer = layer.isPlain ? nil : layer
        companions = if let text = options["mask"] { try ScanLayers.mask(text, path: path) } else { nil }
    }

    private static func mask(_ text: String, path: String) throws(SkyError) -> Companions? {
        var companions = Companions()
        if text == "none" { return nil }
        if text == "auto" {
            companions.takesOwn = true
            return companions
        }
        if text.hasPrefix("hdu:") {
            guard let hdu = Int(text.dropFirst(4)), (0..<10_000).contains(hdu) else {
                throw SkyError(.badInput, "`options.mask`: after hdu: comes a number from 0 to 9999")
            }
            companions.mask = Companions.Image(path: path, hdu: hdu)
            return companions
        }
        guard text.hasPrefix("/") || text.hasPrefix("%") else {
            throw SkyError(
                .badInput,
                "`options.mask` must be auto, none, hdu:N, or the absolute path of an image, as a node knows it")
        }
        let file = ImageName.companion(text, of: path)
        guard file.utf8.count <= SkyRequest.pathLimit, !file.utf8.contains(0) else {
            throw SkyError(
                .badInput, "`options.mask` must have \(SkyRequest.pathLimit) bytes at most, and no zero byte")
        }
        companions.mask = Companions.Image(path: file)
        return companions
    }
}
