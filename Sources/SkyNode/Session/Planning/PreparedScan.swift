import Base
import Sky
import SkyCore

/// A scan's plan with its preparations. It reads the files that the options of `skynode scan` name, and makes the folder for
/// results.
struct PreparedScan: Sendable {
    let plan: ScanPlan
    let output: PreparedOutput

    /// The number of files from which on the checks take so long that people would wonder what is going on.
    private static let many = 1000

    /// - Parameter say: prints what is being checked, where that takes long.
    /// - Throws: `SkyError` or `CommandFailure`, with one line each. Nothing has been written then.
    init(_ options: ScanOptions, say: (String) -> Void = { _ in }) throws {
        guard !options.images.isEmpty else {
            throw CommandFailure(.usage, "name at least one FITS image; see skynode scan --help")
        }
        try options.cluster.check()
        var settings = ScanPlan.Settings(
            configuration: try options.detection.configuration(), output: try options.output.place())
        let conflicts = ScanConflicts(options: options, output: settings.output)
        try conflicts.checkStandardOutput(isTerminal: Console.outputIsTerminal)
        let list = try ImageList(options.images)
        if list.images.count >= PreparedScan.many { say("looking at \(list.images.count) files") }
        try conflicts.checkNumbers(images: list.images.count)
        settings.truth = try options.files.truth.map { try TruthCatalogue.read($0) }
        settings.injection = try options.injection.demand(zeroPoint: settings.configuration.zeroPoint)
        let injects = settings.injection != nil
        try conflicts.checkWaiting(injects: injects)
        settings.layers = try options.layers.layers()
        try conflicts.checkLayers(settings.layers.count, injects: injects)
        let hdu = settings.configuration.hdu
        let reference = try options.comparison.reference.map { file in
            var image = ImageReference(path: try ImagePath.checked(file), hdu: hdu, layer: settings.layers[0])
            image.companions = try options.companions.companions(of: file)
            return ScanPlan.Source(name: file, image: image)
        }
        var plan = try ScanPlan(options, settings, reference: reference, refusals: list.refusals)
        let detection = try options.dual.detection()
        // A folder may also hold the weights of its images.
        let companions = Set(list.images.flatMap { options.companions.files(of: $0.name) })
        for file in list.images {
            var image = ImageReference(path: file.path, hdu: hdu, layer: nil)
            do {
                try FITSSniff.check(path: file.name)
                if list.images.count > 1, companions.contains(file.path) { continue }
                image.companions = try options.companions.companions(of: file.name)
            } catch let error as SkyError {
                plan.refuse(error)
                continue
            }
            image.detection = detection
            try plan.add(ScanPlan.Source(name: file.name, image: image))
        }
        try plan.checkIsNotEmpty()
        self.plan = plan
        let named =
            [options.files.truth].compactMap(\.self) + options.detection.settings.files
            + options.cluster.network.security.files.map(\.path)
        let images =
            list.images.map(\.path) + (reference?.image.paths ?? []) + (detection.map { [$0.image.path] } ?? [])
        output = try PreparedOutput(
            settings.output, files: plan.files, stems: plan.stems, merged: plan.merged,
            inputs: companions.union(images + named.compactMap(ImagePath.resolved)),
            overwrites: plan.overwrites)
    }
}
