/// One image as it goes into a comparison: what the scan found on it, and what is known about the camera.
public struct Epoch: Sendable {
    /// Its sources and its size.
    public var catalogue: Catalogue
    /// Value from which a pixel of the image counts as saturated; `nil` where that is to be guessed from the brightest
    /// sources.
    public var saturation: Double?
    /// Electrons per unit of the image; 0 where unknown: the noise of bright sources is then measured.
    public var gain: Double
    /// How wide its stars are, where somebody knows; `nil` to measure it.
    public var seeing: Seeing?

    public init(catalogue: Catalogue, saturation: Double? = nil, gain: Double = 0, seeing: Seeing? = nil) {
        self.catalogue = catalogue
        self.saturation = saturation
        self.gain = gain
        self.seeing = seeing
    }

    /// Sources in an order that does not depend on how they came, without any that has no place.
    package var sources: [Source] {
        catalogue.sources
            .filter { abs($0.xWindow) < 1e9 && abs($0.yWindow) < 1e9 && $0.fluxAuto.isFinite }
            .sorted { ($0.yWindow, $0.xWindow, $0.fluxAuto) < ($1.yWindow, $1.xWindow, $1.fluxAuto) }
    }

    /// The level at which the detector ends: given, or guessed. `nil` where nothing says that there is one.
    ///
    /// Guessed where several of the brightest sources have the same peak, or where the highest source is flatter than stars: less of
    /// its light in the highest pixel than differences of the place within the pixel explain.
    ///
    /// - Parameter seeing: the full width of its stars in pixels.
    func saturationLevel(seeing: Double) -> Double? {
        if let saturation { return saturation }
        let sources = catalogue.sources.filter { ($0.peak + $0.background).isFinite && $0.peak > 0 }
        let highest = sources.sorted { $0.peak + $0.background > $1.peak + $1.background }
        guard highest.count >= 4 else { return nil }
        let peaks = highest.prefix(3).map { $0.peak + $0.background }
        // A distribution without an end has its third brightest far below the brightest.
        if peaks[0] > 0, peaks[2] > 0.997 * peaks[0] { return 0.99 * peaks[0] }
        let widest = 1.6 * seeing
        let shares = highest.filter { star in
            star.fwhm > 0 && star.fwhm < widest && star.b > 0.8 * star.a && star.fluxAuto > 50 * star.fluxErrorAuto
        }.map { $0.peak / $0.fluxAuto }
        // A galaxy that outshines all stars would pass for one; then its own middle is all that is lost.
        guard shares.count >= 10, let top = highest.first, top.fluxAuto > 0,
            let usual = RobustStatistics.median(shares), top.peak / top.fluxAuto < Self.flatShare * usual
        else { return nil }
        return 0.99 * (top.peak + top.background)
    }

    /// Of the usual share of a star's light in its highest pixel.
    private static let flatShare = 0.85
}
