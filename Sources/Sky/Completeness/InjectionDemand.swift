import Base
import Glibc

/// The artificial stars that the user asks for. Values that the user does not give come from the image's own catalogue.
package struct InjectionDemand: Hashable, Codable, Sendable {
    package var count: Int
    package var seed: UInt64 = 1
    package var profile = StarProfile.moffat
    /// Full width at half maximum in pixels; `nil` for the width of the image's stars.
    package var fwhm: Double?
    /// The range from the brightest to the faintest; `nil` for a range from stars that the image shows well to stars that it
    /// does not show.
    package var magnitudes: ClosedRange<Double>?

    /// The range goes from stars that no scan finds to stars that every scan finds. Half are found at 4 to 8, with any options.
    private static let signalToNoise = 1.0...100
    /// The largest number of scans of one image with stars.
    static let mostRounds = 20

    package init(count: Int) {
        self.count = count
    }

    /// Refuses values that no image can satisfy.
    ///
    /// - Throws: `SkyError` of kind `badInput`, in the words of the command line.
    ///
    /// - Parameter zeroPoint: `nil` if the image's header will give it.
    package func validate(zeroPoint: Double?) throws(SkyError) {
        guard (1...Injection.countLimit).contains(count) else {
            throw SkyError(.badInput, "--inject \(count): the number of stars must be 1 to \(Injection.countLimit)")
        }
        if let fwhm, !Injection.widths.contains(fwhm) {
            throw SkyError(.badInput, "--inject-fwhm \(fwhm): the stars' width must be 1 to 50 pixels")
        }
        guard let magnitudes, let zeroPoint else { return }
        for magnitude in [magnitudes.lowerBound, magnitudes.upperBound] {
            guard Injection.fluxes.contains(Self.flux(magnitude, zeroPoint)) else {
                throw SkyError(
                    .badInput,
                    "--inject-magnitudes: \(magnitude) is no magnitude that a star can have at a zero point of \(zeroPoint)"
                )
            }
        }
    }

    /// The stars for an image, in one or more injections, each for a scan of its own. There are as many as are needed to keep
    /// the stars from disturbing each other.
    ///
    /// - Parameter catalogue: The catalogue of the image as it is.
    /// - Throws: `SkyError` of kind `badInput` if the catalogue does not give the missing values, or if the image is too
    ///   small.
    package func rounds(for catalogue: Catalogue, configuration: ScanConfiguration) throws(SkyError) -> [Injection] {
        let all = try injection(for: catalogue, configuration: configuration.completed(by: catalogue.keywords))
        let capacity = all.capacity(width: catalogue.info.width, height: catalogue.info.height)
        guard count <= capacity * Self.mostRounds else {
            throw SkyError(
                .badInput,
                "--inject \(count): the image has room for \(capacity) stars of this width at a time, for "
                    + "\(capacity * Self.mostRounds) in \(Self.mostRounds) scans")
        }
        let rounds = (count - 1) / capacity + 1
        return (0..<rounds).map { round in
            var part = all
            part.count = (count + round) / rounds
            part.seed = seed &+ UInt64(round)
            return part
        }
    }

    private func injection(
        for catalogue: Catalogue, configuration: ScanConfiguration
    ) throws(SkyError) -> Injection {
        let depth = ImageDepth(catalogue, configuration: configuration)
        guard let measured = fwhm ?? depth.fwhm else {
            throw SkyError(.badInput, "too few stars to measure their width: name one with --inject-fwhm")
        }
        let widths = Injection.widths
        let fwhm = min(max(measured, widths.lowerBound), widths.upperBound)
        func flux(_ signalToNoise: Double) throws(SkyError) -> Double {
            guard let noise = depth.noise else {
                throw SkyError(.badInput, "no source to tell the noise by: name magnitudes with --inject-magnitudes")
            }
            return ImageDepth.flux(
                signalToNoise: signalToNoise, fwhm: fwhm, profile: profile, noise: noise, gain: configuration.gain ?? 0)
        }
        var injection = Injection(count: count, faintest: 1, brightest: 1, fwhm: fwhm)
        (injection.seed, injection.profile) = (seed, profile)
        if let magnitudes {
            let zeroPoint = configuration.zeroPoint ?? 0
            try validate(zeroPoint: zeroPoint)
            injection.brightest = Self.flux(magnitudes.lowerBound, zeroPoint)
            injection.faintest = Self.flux(magnitudes.upperBound, zeroPoint)
        } else {
            injection.brightest = try flux(Self.signalToNoise.upperBound)
            injection.faintest = try flux(Self.signalToNoise.lowerBound)
        }
        try injection.validate()
        return injection
    }

    private static func flux(_ magnitude: Double, _ zeroPoint: Double) -> Double {
        pow(10, 0.4 * (zeroPoint - magnitude))
    }
}
