import ArgumentParser
import Sky
import SkyCore
import SkyJobs

/// All options of `skynode scan`, except how much it prints.
struct ScanOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "FITS images: plain, gzipped or tile-compressed; folders of them; patterns in quotes.", valueName: "image"),
        completion: .file(extensions: ["fits", "fit", "fts", "gz", "fz"]))
    var images: [String] = []

    @OptionGroup(title: HelpSection.input) var layers: LayerOptions
    @OptionGroup(title: HelpSection.input) var companions: CompanionOptions
    @OptionGroup(title: HelpSection.output) var output: OutputOptions
    @OptionGroup(title: HelpSection.output) var files: ScanFileOptions
    @OptionGroup var detection: DetectionOptions
    @OptionGroup(title: HelpSection.comparison) var comparison: ComparisonOptions
    @OptionGroup(title: HelpSection.twoImages) var dual: DualImageOptions
    @OptionGroup(title: HelpSection.stars) var injection: InjectionOptions
    @OptionGroup(title: HelpSection.job) var job: ScanJobOptions
    @OptionGroup(title: HelpSection.job) var flags: JobFlags
    @OptionGroup var cluster: ClusterOptions
}

/// The files that a scan writes in addition to the catalogues.
struct ScanFileOptions: ParsableArguments {
    @Flag(help: "Of several images, write no catalogue of all together.")
    var noMerge = false

    @Flag(name: .customLong("no-picture"), help: "Write no pictures and no report.")
    var noPicture = false

    @Flag(
        help: ArgumentHelp(
            "If the scan is cancelled or fails, still write the finished sectors; of several images those that are done, "
                + "as merged.partial.csv and so on."))
    var keepPartial = false

    @Option(
        help: ArgumentHelp(
            "Truth of a synthetic image (CSV); the summary then says what was found of it.", valueName: "file"),
        completion: .file(extensions: ["csv"]))
    var truth: String?
}

/// Comparing images with an earlier one.
struct ComparisonOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Compare each image with this one, of the same part of the sky: what appeared, vanished, faded, changed or "
                + "moved. Writes NAME.changes.csv and NAME.changes.html.",
            valueName: "file"), completion: .file())
    var reference: String?

    @Option(
        help: ArgumentHelp(
            "How far the coordinates of the images may be off. Default: 20 seconds of arc or 10 pixels, whichever is "
                + "more.",
            valueName: "arcsec"))
    var coordinateError: Double?

    @Option(
        help: ArgumentHelp(
            "This many stars are put into a copy of each image to see which the comparison finds; where it misses more "
                + "than a fifth of the bright ones it says that it is blind, with exit code 1. 0 for none. Default: "
                + "\(InjectedChange.usualCount).",
            valueName: "n"))
    var injectChanges: Int?

    @Flag(
        help: ArgumentHelp(
            "Write NAME.difference.fits too, what the comparison looked at: each image less the reference as it would "
                + "have seen it, and the noise of that."))
    var difference = false
}

/// How a scan's jobs are run.
struct ScanJobOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Do not wait: print the jobs' ids. `skynode jobs results` writes the files later. Of a file with several "
                + "images the first is scanned, or the one that --hdu names; of a colour image the first plane, or "
                + "--plane's."))
    var detach = false

    @Flag(help: "Scan again, even if unchanged images with the same parameters are in the cache.")
    var noCache = false

    @Option(
        name: .customLong("fail-sector"),
        help: ArgumentHelp("Let the first try of this sector fail, to see a retry.", valueName: "n"))
    var failSector: Int?
}
