/// One image of a comparison: the sources that the scan found in it, and what is known about the camera.
public struct Epoch: Sendable {
    /// The sources and the size of the image.
    public var catalogue: Catalogue
    /// The value from which a pixel of the image counts as saturated; `nil` to estimate it from the brightest sources.
    public var saturation: Double?
    /// Electrons per unit of the image. It is 0 if unknown, and then the noise of bright sources is measured.
    public var gain: Double
    /// The width of its stars, if the user gave it; `nil` to measure it.
    public var seeing: Seeing?

    public init(catalogue: Catalogue, saturation: Double? = nil, gain: Double = 0, seeing: Seeing? = nil) {
        self.catalogue = catalogue
        self.saturation = saturation
        self.gain = gain
        self.seeing = seeing
    }

    /// The sources in an order that does not depend on how they came, without those that have no place.
    package var sources: [Source] {
        catalogue.sources
            .filter { abs($0.xWindow) < 1e9 && abs($0.yWindow) < 1e9 && $0.fluxAuto.isFinite }
            .sorted { ($0.yWindow, $0.xWindow, $0.fluxAuto) < ($1.yWindow, $1.xWindow, $1.fluxAuto) }
    }

    /// The level at which the detector saturates: given, or estimated. `nil` if nothing shows that there is one.
    ///
    /// It is estimated if several of the brightest sources have the same peak, or if the highest source is flatter than stars.
    /// A source is flatter if its highest pixel has a smaller share of its light than any place of a star within the pixel
    /// explains.
    ///
    /// - Parameter seeing: The full width of the image's stars in pixels.
    func saturationLevel(seeing: Double) -> Double? {
        if let saturation { return saturation }
        let sources = catalogue.sources.filter { ($0.peak + $0.background).isFinite && $0.peak > 0 }
        let highest = sources.sorted { $0.peak + $0.background > $1.peak + $1.background }
        guard highest.count >= 4 else { return nil }
        let peaks = highest.prefix(3).map { $0.peak + $0.background }
        // In a distribution without an upper limit, the third brightest source is far below the brightest.
        if peaks[0] > 0, peaks[2] > 0.997 * peaks[0] { return 0.99 * peaks[0] }
        let widest = 1.6 * seeing
        let shares = highest.filter { star in
            star.fwhm > 0 && star.fwhm < widest && star.b > 0.8 * star.a && star.fluxAuto > 50 * star.fluxErrorAuto
        }.map { $0.peak / $0.fluxAuto }
        // A galaxy that is brighter than all stars would pass as such a source; then only its own middle is lost.
        guard shares.count >= 10, let top = highest.first, top.fluxAuto > 0,
            let usual = RobustStatistics.median(shares), top.peak / top.fluxAuto < Self.flatShare * usual
        else { return nil }
        return 0.99 * (top.peak + top.background)
    }

    /// The limit for a flat source, as a share of the usual share of a star's light in its highest pixel.
    private static let flatShare = 0.85
}
