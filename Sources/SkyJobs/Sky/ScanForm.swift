import Sky
import SkyCore

/// Which part of a file a job of the API scans: a plane, or a colour of a colour camera's frame, without the pixels of a mask.
///
/// A job makes one catalogue, so it names one of the four colours of a frame. Files are not opened here: a client must not learn by
/// its complaint which files there are on this machine.
struct JobLayers {
    /// `nil` for all pixels of the only plane, or of the first.
    let layer: ImageLayer?
    let companions: Companions?

    /// Names of options that are not those of detection.
    static let names = ["plane", "bayer", "colour", "mask"]

    /// - Parameters:
    ///   - options: Those of `names`, as the command line has them.
    ///   - path: The image's path. `%` in a mask's path stands for it, without its ending.
    /// - Throws: `APIFailure` that names the option.
    init(_ options: [String: String], path: String) throws {
        var layer = ImageLayer()
        if let text = options["plane"] {
            guard let plane = Int(text), ImageLayer.planes.contains(plane) else {
                throw APIFailure(
                    .badRequest,
                    "`options.plane` must be a whole number from \(ImageLayer.planes.lowerBound) to "
                        + "\(ImageLayer.planes.upperBound)")
            }
            layer.plane = plane
        }
        switch (options["bayer"], options["colour"]) {
        case (nil, nil): break
        case (let pattern?, let colour?):
            guard let pattern = BayerArgument(argument: pattern)?.pattern else {
                throw APIFailure(
                    .badRequest,
                    "`options.bayer` must be one of \(BayerArgument.allValueStrings.joined(separator: ", "))")
            }
            guard let colour = BayerPattern.Colour(rawValue: colour.uppercased()) else {
                throw APIFailure(.badRequest, "`options.colour` must be R, G1, G2 or B")
            }
            layer.bayer = BayerGrid(pattern, colour)
        case (_?, nil), (nil, _?):
            throw APIFailure(
                .badRequest, "`options.bayer` and `options.colour` go together: a job scans one colour, R, G1, G2 or B")
        }
        self.layer = layer.isPlain ? nil : layer
        companions = try options["mask"].flatMap { try JobLayers.mask($0, path: path) }
    }

    private static func mask(_ text: String, path: String) throws -> Companions? {
        var companions = Companions()
        if text == "none" { return nil }
        if text == "auto" {
            companions.takesOwn = true
            return companions
        }
        if text.hasPrefix("hdu:") {
            guard let hdu = Int(text.dropFirst(4)), (0..<10_000).contains(hdu) else {
                throw APIFailure(.badRequest, "`options.mask`: after hdu: comes a number from 0 to 9999")
            }
            companions.mask = Companions.Image(path: path, hdu: hdu)
            return companions
        }
        guard text.hasPrefix("/") || text.hasPrefix("%") else {
            throw APIFailure(
                .badRequest,
                "`options.mask` must be auto, none, hdu:N, or the absolute path of an image, as a node knows it")
        }
        let file = text.replacing("%", with: CompanionOptions.stem(path))
        guard file.utf8.count <= JobBody.pathLimit, !file.utf8.contains(0) else {
            throw APIFailure(
                .badRequest, "`options.mask` must have \(JobBody.pathLimit) bytes at most, and no zero byte")
        }
        companions.mask = Companions.Image(path: file)
        return companions
    }
}
