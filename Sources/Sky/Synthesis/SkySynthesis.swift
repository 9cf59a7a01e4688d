import Glibc

/// A recipe for synthetic frames with known truth: stars and galaxies under a graded sky, with the noise and the
/// blemishes of a CCD, once or in several epochs.
///
/// The defaults are those of a one-minute exposure with a one-metre class telescope. Equal recipes give equal frames.
///
///     var recipe = SkySynthesis()
///     recipe.seed = 7
///     try recipe.validate()
///     try recipe.render().write(to: "field.fits")
///
/// With several epochs each is rendered and written alone:
///
///     recipe.epochs = 3
///     recipe.movers = 10
///     try recipe.validate()
///     for epoch in 0..<recipe.epochs {
///         try recipe.render(epoch: epoch).write(to: recipe.path(of: epoch, for: "field.fits"))
///     }
public struct SkySynthesis: Hashable, Sendable {
    /// Columns.
    public var width = 2048
    /// Rows.
    public var height = 2048
    /// Stars in the frame; `nil` takes 5,000 for every 2048 x 2048 pixels, a field at moderate galactic latitude.
    public var stars: Int?
    /// Galaxies in the frame; `nil` takes 600 for every 2048 x 2048 pixels.
    public var galaxies: Int?
    /// The seed of everything random.
    public var seed: UInt64 = 1
    /// Full width at half maximum of a star in pixels: the seeing.
    public var fwhm = 3.2
    /// The image of a point source under the seeing.
    public var profile = StarProfile.moffat
    /// Level of the sky in ADU.
    public var sky = 800.0
    /// Change of the sky over the frame as a share of its level.
    public var gradient = 0.1
    /// Electrons per ADU.
    public var gain = 1.5
    /// Noise of the read-out in electrons.
    public var readNoise = 5.0
    /// Magnitude of 1 ADU per second.
    public var zeroPoint = 25.0
    /// Exposure time in seconds.
    public var exposure = 60.0
    /// Magnitude of the brightest stars. Galaxies begin three magnitudes fainter.
    public var brightest = 14.0
    /// Magnitude of the faintest stars. Galaxies end half a magnitude brighter.
    public var faintest = 24.5
    /// Slope s of the number counts, dN/dm ~ 10^(s m); 0.6 would be a uniform space, the Galaxy has about 0.3.
    public var slope = 0.3
    /// Highest value of a pixel in ADU; 0 for none.
    public var saturation = 60_000.0
    /// Size of a pixel in seconds of arc.
    public var pixelScale = 0.4
    /// Right ascension of the middle in degrees.
    public var rightAscension = 150.1
    /// Declination of the middle in degrees.
    public var declination = 2.2
    /// Angle from the y axis to north in degrees.
    public var rotation = 3.0

    /// Tracks of cosmic rays, 2 to 40 pixels long.
    public var cosmicRays = 0
    /// Trails of satellites across the whole frame.
    public var trails = 0
    /// Brightness of a trail in its middle in ADU a pixel.
    public var trailBrightness = 400.0
    /// Whether a rectangle of an eighth by a twelfth of the frame has no values.
    public var nanBlock = false
    /// How pixels are stored: 8, 16 (unsigned, by `BZERO`), 32, 64, -32 or -64.
    public var bitpix = PixelFormat.float.rawValue

    /// The number of frames of the same sky. Each has its own pointing, seeing, sky level, transparency and noise; the first
    /// has those of the recipe.
    public var epochs = 1
    /// Standard deviation of the pointing along each axis in pixels. The pointing never differs by more than 1.8 times this.
    public var dither = 5.0
    /// Seconds from the beginning of one epoch to that of the next.
    public var interval = 1800.0
    /// Point sources that are there in some epochs only, half of them on the outskirts of galaxies.
    public var transients = 0
    /// Point sources that move from epoch to epoch.
    public var movers = 0
    /// Stars whose magnitude changes from epoch to epoch.
    public var variables = 0
    /// Rate of the slowest movers in seconds of arc per hour.
    public var slowest = 6.0
    /// Rate of the fastest movers in seconds of arc per hour. The main belt's minor planets have some 30.
    public var fastest = 60.0

    /// The default recipe.
    public init() {}

    /// The largest number of pixels of a frame: common FITS readers have 32-bit indices.
    static let pixelLimit = 2_147_483_647
    /// The largest number of pixels of a side.
    static let sideLimit = 100_000
    /// The largest number of stars or galaxies, so that their truth still fits beside the frame.
    static let sourceLimit = 5_000_000

    /// Number of stars that will be drawn.
    var starCount: Int { stars ?? Int((5000 * share).rounded()) }
    /// Number of galaxies that will be drawn.
    var galaxyCount: Int { galaxies ?? min(Int((600 * share).rounded()), Self.sourceLimit) }
    private var share: Double { Double(width) * Double(height) / (2048 * 2048) }

    /// How pixels are stored.
    package var format: PixelFormat { PixelFormat(rawValue: bitpix) ?? .float }

    /// The highest value of a pixel in ADU, from the saturation or the format of the file; `nil` for none.
    var ceiling: Double? {
        let saturation = saturation > 0 ? saturation : nil
        return [saturation, format.ceiling].compactMap { $0 }.min()
    }

    /// Magnitudes of transients and movers. With the other defaults they saturate nothing and can be found.
    var clearMagnitudes: ClosedRange<Double> {
        min(brightest + 4, faintest - 2.2)...faintest - 2.2
    }
}

extension SkySynthesis {
    /// Variance of an empty pixel in ADU^2.
    var skyVariance: Double { sky / gain + (readNoise / gain) * (readNoise / gain) }

    /// Flux in ADU of a magnitude.
    package func flux(magnitude: Double) -> Double {
        pow(10, -0.4 * (magnitude - zeroPoint)) * exposure
    }

    /// Magnitude of a flux in ADU. A source without light gets that of a millionth of an ADU.
    package func magnitude(flux: Double) -> Double {
        zeroPoint - 2.5 * log10(max(flux, 1e-6) / exposure)
    }

    /// Signal to noise of a flux in ADU that fills a noise-equivalent area in pixels.
    package func signalToNoise(flux: Double, area: Double) -> Double {
        let variance = flux / gain + area * skyVariance
        // Without sky and read noise, an empty source has no noise either.
        return variance > 0 ? flux / variance.squareRoot() : 0
    }
}
