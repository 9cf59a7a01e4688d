import ArgumentParser
import SkyCore
import Transport

/// `skynode scan`: FITS images in, catalogues out, over every node there is.
struct ScanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan", abstract: "Find the sources of FITS images, over all nodes of the cluster.",
        discussion: """
            Writes NAME.csv, NAME.cat.fits (a FITS table), NAME.reg (DS9 regions), NAME.png (the image with its sources \
            marked), NAME.sectors.png (who scanned what) and NAME.html (all of it on a page) for every image into the output folder, and of several images merged.csv and so on with the \
            sources of all. Every node opens the image by its path, so that \
            with several machines it must lie on a folder they share.
            """)

    @Argument(
        help: ArgumentHelp(
            "FITS images: plain, gzipped or tile-compressed; folders of them; patterns in quotes.", valueName: "image"))
    var images: [String] = []

    @OptionGroup var output: OutputOptions

    @Flag(help: "Of several images, write no catalogue of all together.")
    var noMerge = false

    @OptionGroup var detection: DetectionOptions
    @OptionGroup var companions: CompanionOptions
    @OptionGroup(title: "Artificial stars") var injection: InjectionOptions

    @Option(
        help: ArgumentHelp(
            "Compare each image with this one, of the same part of the sky: what appeared, vanished, changed or moved. Writes "
                + "NAME.changes.csv and NAME.changes.html.",
            valueName: "file"))
    var reference: String?

    @Option(
        help: ArgumentHelp(
            "Truth of a synthetic image (CSV); the summary then says what was found of it.", valueName: "file"))
    var truth: String?

    @Flag(name: .customLong("no-picture"), help: "Write no pictures and no report.")
    var noPicture = false

    @Option(
        name: .customLong("fail-sector"),
        help: ArgumentHelp("Let the first try of this sector fail, to see a retry.", valueName: "n"))
    var failSector: Int?

    @Flag(help: "Scan again what was scanned before with the same parameters.")
    var noCache = false

    @Flag(help: "Write the sectors that are done of a scan that is cancelled or given up.")
    var keepPartial = false

    @Flag(name: .shortAndLong, help: "Tell every completed task.")
    var verbose = false

    @OptionGroup(title: "Job options") var flags: JobFlags

    @Flag(
        help: ArgumentHelp(
            "Do not wait: print the jobs' ids. `skynode jobs results` writes the files later. Of a file with several images "
                + "the first is scanned, or the one that --hdu names."))
    var detach = false

    @OptionGroup var cluster: ClusterOptions

    func run() async throws {
        let plan = try ScanPlan(self)
        for refusal in plan.refusals { Console.error("skynode: \(PrintableText.of(refusal))") }
        if detach {
            plan.removeOutputFolderIfUnused()
            try await JobHandover.detach(plan.items.map { Submission($0.request) }, cluster)
            if !plan.refusals.isEmpty { throw CommandFailure(.usage) }
            return
        }
        let (format, isVerbose, keepPartial, draws) = (cluster.format, verbose, keepPartial, !noPicture)
        do {
            let status = try await Interrupts.during { interrupts in
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
}
