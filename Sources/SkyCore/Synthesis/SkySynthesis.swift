import Glibc

/// A recipe for a synthetic frame with known truth: stars and galaxies under a graded sky, with the noise of a CCD.
///
/// The defaults are a minute with a one-metre class telescope. Equal recipes give equal frames.
///
///     var recipe = SkySynthesis()
///     recipe.seed = 7
///     try recipe.validate()
///     try recipe.render().write(to: "field.fits")
public struct SkySynthesis: Hashable, Sendable {
    /// Columns.
    public var width = 2048
    /// Rows.
    public var height = 2048
    /// Stars in the frame; `nil` takes 5,000 for every 2048 x 2048 pixels, a field at moderate galactic latitude.
    public var stars: Int?
    /// Galaxies in the frame; `nil` takes 600 for every 2048 x 2048 pixels.
    public var galaxies: Int?
    /// Everything random follows from it.
    public var seed: UInt64 = 1
    /// Full width at half maximum of a star in pixels: the seeing.
    public var fwhm = 3.2
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

    /// The default recipe.
    public init() {}

    /// Most pixels of a frame: the indices of common FITS readers are 32-bit.
    static let pixelLimit = 2_147_483_647
    /// Most pixels of a side.
    static let sideLimit = 100_000
    /// Most stars or galaxies: their truth still fits beside the frame.
    static let sourceLimit = 5_000_000

    /// Number of stars that will be drawn.
    var starCount: Int { stars ?? Int((5000 * share).rounded()) }
    /// Number of galaxies that will be drawn.
    var galaxyCount: Int { galaxies ?? min(Int((600 * share).rounded()), Self.sourceLimit) }
    private var share: Double { Double(width) * Double(height) / (2048 * 2048) }

    /// Variance of an empty pixel in ADU^2.
    var skyVariance: Double { sky / gain + (readNoise / gain) * (readNoise / gain) }

    /// Flux in ADU of a magnitude.
    func flux(magnitude: Double) -> Double {
        pow(10, -0.4 * (magnitude - zeroPoint)) * exposure
    }
}

extension SkySynthesis {
    /// Refuses a recipe that cannot be made.
    ///
    /// - Throws: `SkyError` naming the first value that is wrong and what it may be.
    public func validate() throws(SkyError) {
        try check("width", Double(width), 16...Double(Self.sideLimit), "pixels")
        try check("height", Double(height), 16...Double(Self.sideLimit), "pixels")
        guard width * height <= Self.pixelLimit else {
            throw SkyError(
                .badInput, "a frame of \(width) x \(height) pixels is too large; at most \(Self.pixelLimit) pixels fit")
        }
        try checkMemory()
        try check("number of stars", Double(starCount), 0...Double(Self.sourceLimit), "")
        try check("number of galaxies", Double(galaxyCount), 0...Double(Self.sourceLimit), "")
        try check("seeing (FWHM)", fwhm, 1...50, "pixels")
        try check("sky level", sky, 0...1e6, "ADU")
        try check("sky gradient", gradient, -1...1, "")
        try check("gain", gain, 1e-3...1e4, "electrons per ADU")
        try check("read noise", readNoise, 0...1e4, "electrons")
        try check("zero point", zeroPoint, -50...50, "magnitudes")
        try check("exposure time", exposure, 1e-3...1e6, "seconds")
        try check("brightest magnitude", brightest, -30...40, "")
        try check("faintest magnitude", faintest, -30...40, "")
        guard brightest + 4 <= faintest else {
            throw SkyError(
                .badInput,
                "the faintest magnitude, \(faintest), must be at least 4 larger than the brightest, \(brightest)")
        }
        guard flux(magnitude: brightest) <= 1e12 else {
            throw SkyError(
                .badInput,
                "a star of magnitude \(brightest) would be brighter than 1e12 ADU; raise the brightest magnitude")
        }
        try check("slope of the number counts", slope, 0...1, "")
        try check("saturation", saturation, 0...1e9, "ADU")
        guard saturation == 0 || saturation > sky else {
            throw SkyError(.badInput, "the saturation, \(saturation) ADU, must lie above the sky, \(sky) ADU")
        }
        try check("pixel scale", pixelScale, 1e-4...600, "seconds of arc")
        guard Double(max(width, height)) * pixelScale <= 60 * 3600 else {
            throw SkyError(.badInput, "the frame would span more than 60 degrees; take a smaller pixel scale")
        }
        try check("right ascension", rightAscension, 0...360, "degrees")
        try check("declination", declination, -90...90, "degrees")
        try check("rotation", rotation, -360...360, "degrees")
    }

    private func check(_ name: String, _ value: Double, _ range: ClosedRange<Double>, _ unit: String) throws(SkyError) {
        guard !range.contains(value) else { return }
        let end = unit.isEmpty ? "" : " " + unit
        throw SkyError(
            .badInput,
            "the \(name) must be \(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))\(end), "
                + "not \(Self.plain(value))")
    }

    private static func plain(_ value: Double) -> String {
        Int(exactly: value).map { String($0) } ?? String(value)
    }

    /// A frame that does not fit in memory is refused, rather than have the system kill the program half-way.
    private func checkMemory() throws(SkyError) {
        let needed = width * height * MemoryLayout<Float>.size
        let available = Int(clamping: MachineMemory.total)
        guard needed <= available / 4 * 3 else {
            throw SkyError(
                .badInput,
                "a frame of \(width) x \(height) pixels needs \(needed >> 20) MiB of memory; "
                    + "this machine has \(available >> 20) MiB")
        }
    }
}
