import ArgumentParser
import Sky
import SkyCore
import Transport

/// The image on which sources are found, where they are measured on others.
struct DualImageOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Find sources on this image, of the same size, and measure them on each of those that are scanned: positions, shapes, "
                + "footprints and Kron radii are this one's, fluxes the other's (SExtractor's dual-image mode). --hdu, --plane, "
                + "--mask, --weight, --rms and --variance are for the image that is measured.",
            valueName: "file"), completion: .file(extensions: ["fits", "fit", "fts", "gz", "fz"]))
    var detect: String?

    @Option(
        name: .customLong("detect-hdu"),
        help: ArgumentHelp(
            "With --detect: its HDU. Default: the one with the number of the measured image's, where it is as large, or the "
                + "first with an image.",
            valueName: "n"))
    var detectHDU: Int?

    @Option(
        name: .customLong("detect-plane"),
        help: ArgumentHelp(
            "With --detect: its plane, from 1. Default: the measured image's of a cube, where there is one, or the first.",
            valueName: "n"))
    var detectPlane: Int?

    /// The image on which sources are found; `nil` for the scanned images themselves.
    ///
    /// - Throws: `SkyError` or `CommandFailure` naming the file that is missing or is not an image.
    func detection() throws -> DetectionImage? {
        guard let detect else {
            guard detectHDU == nil, detectPlane == nil else {
                throw CommandFailure(.usage, "--detect-hdu and --detect-plane go with --detect")
            }
            return nil
        }
        var image = Companions.Image(path: try ImagePath.checked(detect), hdu: detectHDU)
        if let detectPlane {
            let layer = ImageLayer(plane: detectPlane)
            try layer.validate()
            image.layer = layer
        }
        return DetectionImage(image)
    }
}
