import ArgumentParser
import Base
import Sky
import SkyCore
import SkyJobs
import Transport

/// The places of the weights, the noise and the masks of images.
struct CompanionOptions: ParsableArguments {
    static let places =
        "A file, in which % stands for the image's path without ending, or hdu:N for an HDU of the image's own file."

    @Option(
        help: ArgumentHelp(
            "Weights of the pixels: inverse variances up to a factor; pixels of no weight are left out. " + places,
            valueName: "file|hdu:n"), completion: .file())
    var weight: String?

    @Option(
        help: ArgumentHelp(
            "Noise of the pixels (1 sigma), in units of the image, where it is not the same everywhere.",
            valueName: "file|hdu:n"), completion: .file())
    var rms: String?

    @Option(
        help: ArgumentHelp("Map of the noise variance; its scale is fitted.", valueName: "file|hdu:n"),
        completion: .file())
    var variance: String?

    @Option(
        help: ArgumentHelp(
            "Pixels that are not 0 there are left out. auto: the bad pixels of the mask, and the weights or the variance, that the "
                + "image's own file has for it, as far as nothing else is named. Default: none.",
            valueName: "file|hdu:n|auto|none"), completion: .file())
    var mask: String?

    /// The weights, noise and mask of an image; `nil` where it has none.
    ///
    /// - Throws: `SkyError` or `CommandFailure` naming the file that is missing or is not an image.
    func companions(of image: String) throws -> Companions? {
        let noises: [(Companions.NoiseKind, String)] = [(.weight, weight), (.rms, rms), (.variance, variance)]
            .compactMap { kind, place in place.map { (kind, $0) } }
        guard noises.count < 2 else {
            throw CommandFailure(.usage, "give one of --weight, --rms and --variance")
        }
        let mask = self.mask == "none" ? nil : self.mask
        guard !noises.isEmpty || mask != nil else { return nil }
        var companions = Companions()
        if let (kind, place) = noises.first {
            (companions.kind, companions.noise) = (kind, try CompanionOptions.place(place, of: image))
        }
        if mask == "auto" {
            companions.takesOwn = true
        } else {
            companions.mask = try mask.map { try CompanionOptions.place($0, of: image) }
        }
        return companions
    }

    /// The resolved paths of the files that belong to an image and exist, without the image's own file.
    func files(of image: String) -> [String] {
        [weight, rms, variance, mask].compactMap { text in
            guard let text, !text.hasPrefix("hdu:"), !["auto", "none"].contains(text) else { return nil }
            return ImagePath.resolved(ImageName.companion(text, of: image))
        }
    }

    private static func place(_ text: String, of image: String) throws -> Companions.Image {
        var (path, hdu) = (ImageName.companion(text, of: image), Int?.none)
        if text.hasPrefix("hdu:") {
            guard let number = Int(text.dropFirst(4)), (0..<10_000).contains(number) else {
                throw CommandFailure(.usage, "\(PrintableText.of(text)): after hdu: comes a number from 0")
            }
            (path, hdu) = (image, number)
        }
        return Companions.Image(path: try ImagePath.checked(path), hdu: hdu)
    }
}
