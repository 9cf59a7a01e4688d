import ArgumentParser
import Base
import Sky
import SkyCore

/// The part of an HDU that is scanned: a plane of a cube, or the colours of a colour camera.
struct LayerOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Plane of a cube, from 1; of more than three axes the third counts fastest. Default: each plane of a colour image "
                + "(NAXIS3 = 3), with a catalogue for each; the first of any other cube.",
            valueName: "n"))
    var plane: Int?

    @Option(
        help: ArgumentHelp(
            "The frame is a colour camera's, with filters in this order from its first pixel on: scan each colour on its own, "
                + "with catalogues NAME-R, NAME-G1, NAME-G2 and NAME-B whose positions are the frame's.",
            valueName: "RGGB|BGGR|GRBG|GBRG"))
    var bayer: BayerArgument?

    /// The parts of each image that are scanned: the whole image, or its colours one after the other.
    ///
    /// - Throws: `SkyError` with the limits, where the plane is outside them.
    func layers() throws(SkyError) -> [ImageLayer] {
        let plain = ImageLayer(plane: plane)
        try plain.validate()
        guard let pattern = bayer?.pattern else { return [plain] }
        return BayerPattern.Colour.allCases.map { ImageLayer(plane: plane, bayer: BayerGrid(pattern, $0)) }
    }
}

/// The order of a colour camera's filters.
struct BayerArgument: ExpressibleByArgument {
    let pattern: BayerPattern

    init?(argument: String) {
        guard let pattern = BayerPattern(rawValue: argument.uppercased()) else { return nil }
        self.pattern = pattern
    }

    static var allValueStrings: [String] { BayerPattern.allCases.map(\.rawValue) }
    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}
