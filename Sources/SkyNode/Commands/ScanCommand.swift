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
            Writes NAME.csv, NAME.cat.fits (a FITS table), NAME.reg (DS9 regions), NAME.jpg (the image with its sources \
            marked), NAME.sectors.png (who scanned what) and NAME.html (all of it on a page) for every image into the \
            output folder, and of several images merged.csv and so on: the sources of all, one image after the other.

            A node that has the image under the same path, as on a shared folder, reads it there; the others get the \
            pixels that they need from one that has it.

            EXAMPLES:
              skynode scan m31.fits -o out
              skynode scan night/ -o night.ecsv           one catalogue of all images
              skynode scan m31.fits -o - | head           the catalogue on standard output
              skynode scan m31.fits --threshold 3 --aperture 6,10 --zero-point 25.3
              skynode scan tonight.fits --reference lastweek.fits -o out
              skynode scan 'night/*.fits' --weight %.weight.fits -o out
              skynode scan night/ --detach
            """)

    @OptionGroup var options: ScanOptions

    @Flag(
        name: .shortAndLong,
        help: "Print every completed task, and of several images all that is printed of one, instead of a line each.")
    var verbose = false

    @Flag(name: .shortAndLong, help: "Print only what goes wrong.")
    var quiet = false

    @Flag(
        help: ArgumentHelp(
            "After the summary, print where the time went: the steps on the way to the files, and what each node worked at. "
                + "Of several images it is their sum; --verbose prints each."))
    var timing = false

    func run() async throws {
        let begun = ContinuousClock.now
        guard !quiet || !verbose else { throw CommandFailure(.usage, "--quiet and --verbose contradict each other") }
        guard !timing || !quiet && !options.job.detach else {
            let other = quiet ? "--quiet" : "--detach"
            throw CommandFailure(
                .usage, "--timing and \(other) contradict each other: it is printed when the files are written")
        }
        let cluster = options.cluster
        let prepared = try PreparedScan(options) {
            if cluster.format == .text, !quiet { Console.error("skynode: \($0)") }
        }
        let (plan, output) = (prepared.plan, prepared.output)
        for refusal in plan.refusals { Console.failure(PrintableText.of(refusal.message)) }
        if options.job.detach {
            output.removeFolderIfUnused()
            let submissions = plan.items.map { Submission($0.request) }
            try await JobHandover.detach(submissions, cluster.destination, output: options.output.output)
            if !plan.refusals.isEmpty { throw CommandFailure(.usage) }
            return
        }
        let (format, isQuiet, timing) = (cluster.format, quiet, timing)
        let (keepsPartial, draws) = (options.files.keepPartial, !options.files.noPicture)
        let firstJob = FirstJob(plan)
        let detail = ScanDetail(isQuiet: quiet, isVerbose: verbose, images: plan.items.count)
        do {
            let time = keepsPartial ? ScanCommand.timeForResults : .zero
            let status = try await Interrupts.during(timeForResults: time, connection: cluster.connection()) {
                interrupts in
                try await ClusterSession.with(cluster, early: firstJob?.earlyWork) { coordinator in
                    let display = ProgressDisplay(
                        format == .json ? .nothing : isQuiet ? .problems : .progress)
                    defer { display.finish() }
                    interrupts.speak(through: display)
                    coordinator.speak(through: display)
                    let batch = ScanBatch(
                        plan: plan, output: output, firstJob: firstJob, coordinator: coordinator,
                        interrupts: interrupts, display: display,
                        sender: InputSender(coordinator) { display.say($0) }, format: format, detail: detail,
                        keepsPartial: keepsPartial, draws: draws, printsTiming: timing, start: begun.duration(to: .now))
                    return try await batch.run()
                }
            }
            if status != .done { throw CommandFailure(status) }
        } catch {
            output.removeFolderIfUnused()
            throw error
        }
    }

    /// The time to fetch and write what is done of a scan that is cancelled.
    private static let timeForResults = Duration.seconds(60)
}
