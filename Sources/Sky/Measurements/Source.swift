/// One source of the catalogue, in SExtractor's names and conventions: pixels counted from 1, the first pixel's
/// centre at (1, 1); angles in degrees; fluxes in the units of the image.
public struct Source: Hashable, Codable, Sendable {
    /// Isophotal centroid (`X_IMAGE`, `Y_IMAGE`).
    public var x: Double
    public var y: Double
    /// Right ascension and declination (ICRS) in degrees (`ALPHA_J2000`, `DELTA_J2000`); `nil` without a WCS.
    public var alpha: Double?
    public var delta: Double?
    /// Flux in the Kron ellipse and its 1-sigma error (`FLUX_AUTO`, `FLUXERR_AUTO`).
    public var fluxAuto: Double
    public var fluxErrorAuto: Double
    /// Centroid under a Gaussian window as wide as the source: two to three times as precise (`XWIN_IMAGE`, `YWIN_IMAGE`).
    public var xWindow: Double
    public var yWindow: Double
    /// The same in degrees (`ALPHAWIN_J2000`, `DELTAWIN_J2000`); `nil` without a WCS.
    public var alphaWindow: Double?
    public var deltaWindow: Double?
    /// Fluxes in the circular apertures and their 1-sigma errors (`FLUX_APER`, `FLUXERR_APER`), in the order of the
    /// configuration's diameters.
    public var fluxesAperture: [Double]
    public var fluxErrorsAperture: [Double]
    /// Flux of the pixels above the threshold (`FLUX_ISO`).
    public var fluxIsophotal: Double
    /// Highest pixel above the background (`FLUX_MAX`).
    public var peak: Double
    /// Radius that holds half of `FLUX_AUTO`, in pixels (`FLUX_RADIUS`).
    public var halfLightRadius: Double
    /// Kron radius in units of A_IMAGE, B_IMAGE (`KRON_RADIUS`).
    public var kronRadius: Double
    /// RMS along the major and the minor axis, in pixels (`A_IMAGE`, `B_IMAGE`).
    public var a: Double
    public var b: Double
    /// Position angle of the major axis, degrees from x towards y (`THETA_IMAGE`).
    public var theta: Double
    /// Full width at half maximum of the Gaussian that fits the core, in pixels (`FWHM_IMAGE`); 0 if none fits.
    public var fwhm: Double
    /// Level of the sky at the centroid (`BACKGROUND`).
    public var background: Double
    /// Detection threshold above that (`THRESHOLD`).
    public var threshold: Double
    /// Pixels above the threshold (`ISOAREA_IMAGE`).
    public var area: Int
    /// SExtractor's bits (`FLAGS`): 1 biased by a neighbour or bad pixels, 2 deblended, 4 saturated,
    /// 8 cut by the image's edge, 16 aperture incomplete, 32 too many branches to deblend.
    public var flags: Int
    /// What is wrong with the source's pixels (`IMAFLAGS_ISO`), as the bits of ``ImageFlags``.
    public var imageFlags: Int
    /// How many times as much light the source's sharpest pixel has as the two pixels on opposite sides of it, beyond any doubt
    /// from noise: 1 if no pixel stands out, at most 1000 (`SHARPNESS`).
    public var sharpness: Double
    /// Index of the sector that owns the source.
    public var sector: Int
    /// Measurements that only some columns need; `nil` if the catalogue has none of these columns.
    public var further: FurtherMeasurements?

    /// The sharpness of a source in which no pixel stands out, or that cannot be judged.
    static let noSharpness = 1.0

    /// A source with all measurements at zero; the engine fills them in.
    public init(x: Double, y: Double, sector: Int) {
        self.x = x
        self.y = y
        self.sector = sector
        alpha = nil
        delta = nil
        alphaWindow = nil
        deltaWindow = nil
        fluxAuto = 0
        fluxErrorAuto = 0
        xWindow = x
        yWindow = y
        fluxesAperture = []
        fluxErrorsAperture = []
        fluxIsophotal = 0
        peak = 0
        halfLightRadius = 0
        kronRadius = 0
        a = 0
        b = 0
        theta = 0
        fwhm = 0
        background = 0
        threshold = 0
        area = 0
        flags = 0
        imageFlags = 0
        sharpness = Source.noSharpness
        further = nil
    }
}

extension Source {
    /// The places that a source may have, in pixels: those of an image, and as far beyond as a windowed position may drift.
    /// Places become integers and squares of distances, which must not overflow.
    package static let places = -1e10...1e10

    /// Whether the source's place can be used in calculations. Windowed places are not tested, because code that uses them
    /// takes the other ones if they are not numbers.
    var hasPlace: Bool { Source.places.contains(x) && Source.places.contains(y) }
}
