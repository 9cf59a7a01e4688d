/// Everything that decides what a scan finds. Two scans with equal configurations of the same image give the
/// same catalogue, regardless of the machines that took part.
///
/// Names and defaults are SExtractor's, which users know (SExtractor's manual, "Configuration file").
public struct ScanConfiguration: Hashable, Sendable {
    /// Detection threshold in units of the global background RMS (`DETECT_THRESH`).
    public var threshold = 1.5
    /// The kind of RMS that is the unit of the threshold.
    public var thresholdUnit = ThresholdUnit.pixel
    /// How the image is smoothed before detection (`FILTER_NAME`).
    public var filter = DetectionFilter.pyramid
    /// Fewest pixels above the threshold that make a source (`DETECT_MINAREA`).
    public var minimumArea = 5
    /// Number of deblending levels (`DEBLEND_NTHRESH`).
    public var deblendLevels = 32
    /// Least share of the flux that makes a branch a source of its own (`DEBLEND_MINCONT`).
    public var deblendContrast = 0.005
    /// Cleaning efficiency (`CLEAN_PARAM`); `nil` keeps doubtful neighbours of bright sources.
    public var cleanParameter: Double? = 1.0
    /// Side of a background mesh in pixels (`BACK_SIZE`).
    public var meshSize = 64
    /// Side of the median filter over the meshes (`BACK_FILTERSIZE`), odd.
    public var meshFilterSize = 3
    /// Thickness in pixels of the annulus around each source in which the background of its fluxes is measured
    /// (`BACKPHOTO_THICK`); `nil` for the image's background alone.
    public var localBackground: Int?
    /// Diameters of the circular apertures in pixels (`PHOT_APERTURES`).
    public var apertureDiameters = [10.0]
    /// Electrons per unit of the image (`GAIN`). A value of 0 leaves the sources' own Poisson noise out of the errors; `nil`
    /// takes the header's value, and does the same as 0 if the header has none.
    public var gain: Double?
    /// Value from which a pixel of the image counts as saturated (`SATUR_LEVEL`); `nil` takes the header's value, or none.
    public var saturation: Double?
    /// Magnitude of one unit of flux (`MAG_ZEROPOINT`); `nil` takes the header's value, or 0.
    public var zeroPoint: Double?
    /// Full width at half maximum of the stars in pixels, if the user knows it better than it can be measured; `nil` to measure
    /// it.
    public var seeing: Double?
    /// Side of a sector's core in pixels, a multiple of `meshSize`; `nil` scans the image as one sector.
    public var sectorSize: Int? = 1024
    /// Width of the rim around the core that a sector reads and does not own, in pixels.
    public var margin = 64
    /// Columns of the catalogue by their names, in this order; `nil` for the usual ones. Some are measured only if they are in
    /// this list.
    public var columns: [String]?
    /// The data that sectors return beside their sources, for check images; `nil` for none.
    package var checkParts: CheckParts?
    /// Whether a sector's result spares room; see ``SectorResult/spareRoom()``. `nil` as `false`, from coordinators of versions before
    /// 0.2, which cannot read such a result.
    package var sparesRoom: Bool?
    /// The image's place in the file, 0 for the primary; `nil` takes the first HDU that holds a 2-D image.
    public var hdu: Int?

    public init() {}
}

/// The unit of a threshold.
public enum ThresholdUnit: String, Hashable, Codable, Sendable, CaseIterable {
    /// The background's RMS in the image, as in SExtractor.
    case pixel
    /// The RMS that independent noise has after the filter. A threshold of 5 is then one of five standard deviations, with any
    /// filter.
    case filtered
}
