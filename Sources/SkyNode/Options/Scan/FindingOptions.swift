import ArgumentParser
import Sky
import SkyCore

/// How sources are found.
struct FindingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "sextractor: SExtractor's defaults (threshold 1.5, at least 5 pixels, default filter). sensitive: twice as "
                + "many faint stars (a filter as wide as the image's stars, 5 sigma of the filtered noise, any area). "
                + "Other flags go on top.",
            valueName: "name"))
    var preset = NamedArgument(value: DetectionPreset.sextractor)

    @Option(
        help: ArgumentHelp(
            "Detection threshold in units of the background's RMS. Default: 1.5, or the preset's.", valueName: "sigma"))
    var threshold: Double?

    @Option(
        help: ArgumentHelp(
            "Measure the RMS in the original image (pixel) or in the filtered one (filtered). Default: pixel, or the "
                + "preset's.",
            valueName: "pixel|filtered"))
    var thresholdUnit: NamedArgument<ThresholdUnit>?

    @Option(
        name: .customLong("min-area"),
        help: ArgumentHelp(
            "Minimum number of connected pixels above the threshold (DETECT_MINAREA). Default: 5, or the preset's.",
            valueName: "pixels"))
    var minimumArea: Int?

    @Option(
        help: ArgumentHelp(
            "How the image is smoothed for detection: none, default (3x3 pyramid), seeing (a Gaussian as wide as the "
                + "image's stars), or the weights of a .conv file of SExtractor's. Default: default, or the preset's.",
            valueName: "name|file.conv"))
    var filter: FilterArgument?

    @Option(
        help: ArgumentHelp("Smooth with a Gaussian of this full width at half maximum.", valueName: "pixels"))
    var fwhm: Double?

    @Option(
        name: .customLong("deblend-levels"),
        help: ArgumentHelp(
            "Number of deblending levels (DEBLEND_NTHRESH); 1 for no deblending. Default: 32.", valueName: "n"))
    var deblendLevels: Int?

    @Option(
        name: .customLong("deblend-contrast"),
        help: ArgumentHelp(
            "Smallest fraction of a blend's flux that counts as a separate source (DEBLEND_MINCONT). Default: 0.005.",
            valueName: "share"))
    var deblendContrast: Double?

    @Option(
        help: ArgumentHelp(
            "SExtractor's CLEAN_PARAM, 0.1 to 10: lower values remove more spurious detections near bright sources; off to "
                + "keep all. Default: 1.",
            valueName: "number"))
    var clean: CleanArgument?

    @Option(
        help: ArgumentHelp(
            "Side of a sector, or `full` for the whole image as one. Default: 1024.", valueName: "pixels"))
    var sector: SectorSizeArgument?

    @Option(
        help: ArgumentHelp("Overlap: pixels read beyond each sector's edge. Default: 64.", valueName: "pixels"))
    var margin: Int?
}

/// How sources are measured.
struct PhotometryOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Diameters of the circular apertures, with commas in between. Default: 10.", valueName: "pixels,..."))
    var aperture: AperturesArgument?

    @Option(
        help: ArgumentHelp(
            "Electrons per unit of the image, 0 for unknown. Default: the header's GAIN.", valueName: "gain"))
    var gain: Double?

    @Option(
        help: ArgumentHelp(
            "Flag sources with pixels of this value and above as saturated. Default: the header's SATURATE.",
            valueName: "value"))
    var saturation: Double?

    @Option(
        name: .customLong("zero-point"),
        help: ArgumentHelp("Magnitude of one unit of flux. Default: the header's, or 0.", valueName: "mag"))
    var zeroPoint: Double?

    @Option(
        help: ArgumentHelp(
            "Full width at half maximum of the stars, for whatever needs it: --filter seeing, --inject, --reference. Default: it "
                + "is measured.",
            valueName: "pixels"))
    var seeing: Double?
}

/// Which background is subtracted.
struct BackgroundOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Background of the fluxes: global (the image's) or local (of an annulus around each source, too). Default: global.",
            valueName: "global|local"))
    var background: NamedArgument<BackgroundKind>?

    @Option(
        help: ArgumentHelp(
            "With --background local: thickness of the annulus. Default: 24.", valueName: "pixels"))
    var backgroundThickness: Int?

    @Option(help: ArgumentHelp("Side of a background mesh. Default: 64.", valueName: "pixels"))
    var mesh: Int?

    @Option(
        name: .customLong("mesh-filter"),
        help: ArgumentHelp(
            "Side of the median filter over the meshes, odd; 1 for none. Default: 3.", valueName: "meshes"))
    var meshFilter: Int?
}

/// The columns of the catalogue.
struct ColumnOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Columns of the catalogue, with commas in between; +NAME,... for these beside the usual ones; @FILE for those of a "
                + "parameter file of SExtractor's. Beside the usual ones there are \(ColumnList.further).",
            valueName: "name,..."))
    var columns: String?
}

/// Which image of a file is scanned.
struct HDUOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Scan only this HDU, 0 for the primary. Default: all images in a file, without those that are weights, errors, "
                + "masks and the like by name, type or place, and without cubes where there are images.",
            valueName: "n"))
    var hdu: Int?
}
