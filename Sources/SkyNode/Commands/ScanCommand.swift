import ArgumentParser
import Base
import Sky
import SkyCore
import Transport

/// `skynode scan`: FITS images in, catalogues out, over every node there is.
struct ScanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan", abstract: "Find the sources of FITS images, over all nodes of the cluster.",
        discussion: """
            Writes NAME.csv, NAME.cat.fits (a FITS table), NAME.reg (DS9 regions), NAME.png (the image with its sources \
            marked), NAME.sectors.png (who scanned what) and NAME.html (all of it on a page) for every image into the \
            output folder, and of several images merged.csv and so on: the sources of all, one image after the other.

            A node that has the image under the same path, as on a shared folder, reads it there; the others get the \
            pixels that they need from one that has it.
            """)

    @Argument(
        help: ArgumentHelp(
            "FITS images: plain, gzipped or tile-compressed; folders of them; patterns in quotes.", valueName: "image"),
        completion: .file(extensions: ["fits", "fit", "fts", "gz", "fz"]))
    var images: [String] = []

    @OptionGroup var output: OutputOptions

    @Flag(help: "Of several images, write no catalogue of all together.")
    var noMerge = false

    @OptionGroup var detection: DetectionOptions
    @OptionGroup var layers: LayerOptions
    @OptionGroup var companions: CompanionOptions
    @OptionGroup(title: "Two images") var dual: DualImageOptions
    @OptionGroup(title: "Artificial stars") var injection: InjectionOptions

    @Option(
        help: ArgumentHelp(
            "Compare each image with this one, of the same part of the sky: what appeared, vanished, faded, changed or moved. "
                + "Writes "
                + "NAME.changes.csv and NAME.changes.html.",
            valueName: "file"), completion: .file())
    var reference: String?

    @Option(
        help: ArgumentHelp(
            "With --reference: how far the coordinates of the images may be off. Default: 20 seconds of arc or 10 pixels, "
                + "whichever is more.",
            valueName: "arcsec"))
    var coordinateError: Double?

    @Option(
        help: ArgumentHelp(
            "With --reference: this many stars are put into a copy of each image to see which the comparison finds; where it "
                + "misses more than a fifth of the bright ones it says that it is blind, with exit code 1. 0 for none. "
                + "Default: \(InjectedChange.usualCount).",
            valueName: "n"))
    var injectChanges: Int?

    @Flag(
        help: ArgumentHelp(
            "With --reference: write NAME.difference.fits too, what the comparison looked at: each image less the reference "
                + "as it would have seen it, and the noise of that."))
    var difference = false

    @Option(
        help: ArgumentHelp(
            "Truth of a synthetic image (CSV); the summary then says what was found of it.", valueName: "file"),
        completion: .file(extensions: ["csv"]))
    var truth: String?

    @Flag(name: .customLong("no-picture"), help: "Write no pictures and no report.")
    var noPicture = false

    @Option(
        name: .customLong("fail-sector"),
        help: ArgumentHelp("Let the first try of this sector fail, to see a retry.", valueName: "n"))
    var failSector: Int?

    @Flag(help: "Scan again what was scanned before with the same parameters.")
    var noCache = false

    @Flag(
        help: ArgumentHelp(
            "Write the sectors that are done of a scan that is cancelled or given up, and of several images those that are "
                + "done as merged.partial.csv and so on."))
    var keepPartial = false

    @Flag(name: .shortAndLong, help: "Tell every completed task.")
    var verbose = false

    @OptionGroup(title: "Job options") var flags: JobFlags

    @Flag(
        help: ArgumentHelp(
            "Do not wait: print the jobs' ids. `skynode jobs results` writes the files later. Of a file with several images "
                + "the first is scanned, or the one that --hdu names; of a colour image the first plane, or --plane's.")
    )
    var detach = false

    @OptionGroup var cluster: ClusterOptions

    func run() async throws {
        let plan = try ScanPlan(self) { if cluster.format == .text { Console.error("skynode: \($0)") } }
        for refusal in plan.refusals { Console.error("skynode: \(PrintableText.of(refusal))") }
        if detach {
            plan.removeOutputFolderIfUnused()
            try await JobHandover.detach(plan.items.map { Submission($0.request) }, cluster)
            if !plan.refusals.isEmpty { throw CommandFailure(.usage) }
            return
        }
        let (format, isVerbose, keepPartial, draws) = (cluster.format, verbose, keepPartial, !noPicture)
        do {
            let time = keepPartial ? ScanCommand.timeForResults : .zero
            let status = try await Interrupts.during(timeForResults: time) { interrupts in
                try await ClusterSession.with(cluster) { coordinator in
                    let display = ProgressDisplay(isQuiet: format == .json)
                    defer { display.finish() }
                    interrupts.speak(through: display)
                    coordinator.speak(through: display)
                    let batch = ScanBatch(
                        plan: plan, coordinator: coordinator, interrupts: interrupts, display: display,
                        format: format, isVerbose: isVerbose, keepsPartial: keepPartial, draws: draws)
                    return try await batch.run()
                }
            }
            if status != .done { throw CommandFailure(status) }
        } catch {
            plan.removeOutputFolderIfUnused()
            throw error
        }
    }

    /// To fetch and write what is done of a scan that is cancelled.
    private static let timeForResults = Duration.seconds(60)

    /// - Throws: `CommandFailure` where something else than one catalogue would go there.
    func checkStandardOutput(_ place: OutputPlace) throws {
        if cluster.format == .json {
            throw CommandFailure(
                .usage, "--output - and --format json contradict each other: both are for standard output")
        }
        if [.fits, .ldac].contains(place.formats.first), Console.outputIsTerminal {
            throw CommandFailure(.usage, "a FITS table is nothing for a terminal; let standard output go to a file")
        }
    }
}
