import Base
import NIOPosix
import Sky
import SkyCore
import SkyJobs
import Transport

/// Compares scanned images with a reference. It is the part of `skynode scan --reference` that works on one image.
struct EpochComparer: Sendable {
    /// An image that has been scanned.
    struct Scanned: Sendable {
        var name: String
        var image: CompareRequest.Image
        var catalogue: Catalogue
        /// The time when the image was taken, in seconds; `nil` where its header does not say it.
        var time: Double? { ObservationTime.seconds(catalogue.info.header ?? []) }
    }

    /// The result for one image.
    struct Compared: Sendable {
        var item: ScanItem
        var reference: Scanned
        var new: CompareRequest.Image
        var comparison: EpochComparison
        /// The match of the two images and the parts that were compared. Drawing the changes needs both.
        var pair: EpochPair
        var sectors: [Sector]
        /// What the new image was measured by; `nil` where that is not known.
        var arithmetic: Arithmetic?
        var time: Double?
        /// Magnitude of one unit of the new image's flux.
        var zeroPoint: Double
        var status: ExitStatus
        /// The path of the difference image, where it was requested.
        var differencePath: String?
        /// Its files, which take their places together when the images after it are compared, too. The difference is written already.
        var files: StagedFiles
    }

    let plan: ScanPlan
    let coordinator: CoordinatorConnection
    let interrupts: Interrupts
    let display: ProgressDisplay
    let sender: InputSender
    let format: OutputFormat
    let detail: ScanDetail

    /// Scans the reference, whose results are not written.
    ///
    /// - Returns: `nil` where the scan failed. The failure has been reported then.
    func scanned(_ item: ScanItem) async throws -> Scanned? {
        var item = item
        item.request = try await sender.expecting(item.request)
        guard var (job, report) = try await run(item.request, subject: item.name) else { return nil }
        do {
            while let request = try await sender.completed(item.request, after: report) {
                item.request = request
                guard let again = try await run(request, replacing: job, subject: item.name) else { return nil }
                (job, report) = again
            }
        } catch let error as SkyError {
            report.reason = error.message
        }
        guard report.state == .done else {
            if let reason = report.reason { display.fail("\(PrintableText.of(reason))") }
            return nil
        }
        let catalogue = try await ScanFetcher(coordinator: coordinator, job: job).catalogue()
        return try await scanned(item, job, catalogue)
    }

    /// The data of an image that a comparison needs, after a job has scanned the image.
    func scanned(_ item: ScanItem, _ job: JobID, _ catalogue: Catalogue) async throws -> Scanned? {
        guard let request = item.request.kind.scan,
            let background = try await coordinator.page(BackgroundPage.self, of: job).background
        else { return nil }
        var reference = request.image
        reference.hdu = catalogue.info.hdu
        (reference.content, reference.holder) = (catalogue.info.content, catalogue.info.holder)
        reference.layer = catalogue.info.layer
        reference.companions = reference.companions?.completed(by: catalogue.info.ownCompanions)
        reference.companions?.noise?.hdu = catalogue.info.noiseHDU
        reference.companions?.mask?.hdu = catalogue.info.maskHDU
        return Scanned(
            name: item.name, image: CompareRequest.Image(reference: reference, background: background),
            catalogue: catalogue)
    }

    /// How an image and the reference fit together.
    ///
    /// - Throws: `SkyError` where the two cannot be compared, with the reason.
    func pair(_ new: Scanned, with old: Scanned) async throws -> EpochPair {
        let configuration = plan.configuration
        let epochs = [new, old].map { scanned in
            let camera = configuration.completed(by: scanned.catalogue.keywords)
            return Epoch(
                catalogue: scanned.catalogue, saturation: camera.saturation, gain: camera.gain ?? 0,
                seeing: configuration.seeing.map(Seeing.init(given:)))
        }
        let (coordinateError, injected, seed) = (
            plan.coordinateError, plan.injectedChanges, plan.injection?.seed ?? 1
        )
        // Matching a hundred thousand sources takes a while.
        return try await NIOThreadPool.singleton.runIfActive {
            try EpochPair(
                new: epochs[0], old: epochs[1], coordinateError: coordinateError, injected: injected, seed: seed)
        }
    }

    /// Compares an image with the reference.
    ///
    /// - Throws: `SkyError` where the two cannot be compared, or the difference cannot be written, with the reason.
    func compare(
        _ item: ScanItem, _ new: Scanned, with old: Scanned, _ pair: EpochPair
    ) async throws -> Compared? {
        let configuration = plan.configuration
        // The parts have one size, however the images were scanned, because the stars of a part show how its seeing differs.
        var cut = configuration
        (cut.sectorSize, cut.meshSize) = (Self.partSide, ScanConfiguration().meshSize)
        let grid = try SectorGrid(info: new.catalogue.info, configuration: cut)
        var file = plan.writesDifference ? try DifferenceFile(of: new.catalogue.info) : nil
        let work = grid.sectors.map {
            CompareRequest.Work.difference(pair.order(for: $0, tellsPixels: plan.writesDifference))
        }
        guard
            let (parts, status) = try await parts(
                CompareRequest(new: new.image, old: old.image, work: work), of: item, pixels: &file)
        else { return nil }
        let differences = parts.compactMap { if case .difference(let result) = $0 { result } else { nil } }
        let comparison = try await NIOThreadPool.singleton.runIfActive {
            EpochComparison(merging: differences, pair: pair, new: new.catalogue, old: old.catalogue)
        }
        // The difference is written now, because those of all images would not fit into memory. This takes seconds for a large
        // image.
        let files = StagedFiles(overwrites: plan.overwrites)
        let path = file == nil ? nil : item.stem + DifferenceFile.ending
        if let file, let path { try await write(file, of: new, reference: old, to: path, among: files) }
        return Compared(
            item: item, reference: old, new: new.image, comparison: comparison, pair: pair, sectors: grid.sectors,
            arithmetic: new.catalogue.arithmetic, time: new.time,
            zeroPoint: configuration.completed(by: new.catalogue.keywords).zeroPoint ?? 0,
            status: status, differencePath: path, files: files)
    }

    /// Writes the difference.
    ///
    /// - Throws: `SkyError` naming the file and the reason.
    private func write(
        _ file: DifferenceFile, of new: Scanned, reference old: Scanned, to path: String, among files: StagedFiles
    ) async throws {
        try await NIOThreadPool.singleton.runIfActive {
            try interrupts.whileWriting { () throws(SkyError) in
                try file.write(
                    to: path, catalogue: new.catalogue, image: new.name, reference: old.name, among: files)
            }
        }
    }

    /// The pictures of changes, by the places of the changes in the list.
    func cutouts(_ compared: Compared, _ changes: [EpochChange]) async throws -> [Int: EpochCutouts] {
        let groups = CutoutGroup.all(of: changes, limit: ChangeReport.mostPictures, in: compared.sectors)
        guard !groups.isEmpty else { return [:] }
        let work = groups.map { group in
            CompareRequest.Work.cutouts(
                group.changes.map { changes[$0] }, compared.pair.cutoutOrder(for: group.sector))
        }
        let request = CompareRequest(new: compared.new, old: compared.reference.image, work: work)
        var none: DifferenceFile?
        guard let (parts, status) = try await parts(request, of: compared.item, pixels: &none), status == .done else {
            return [:]
        }
        let pictures = parts.flatMap { part -> [EpochCutouts] in
            if case .cutouts(let pictures) = part { pictures } else { [] }
        }
        return Dictionary(zip(groups.flatMap(\.changes), pictures)) { one, _ in one }
    }

    /// Pixels along the side of a part that is compared by itself.
    private static let partSide = 1024

    /// The results of a comparison's parts; `nil` where it was given up or cancelled, which has been reported then.
    ///
    /// - Parameter pixels: Receives the pixels of the difference. The returned parts do not contain them then.
    private func parts(
        _ request: CompareRequest, of item: ScanItem, pixels file: inout DifferenceFile?
    ) async throws -> (parts: [ComparedPart], status: ExitStatus)? {
        var job = item.request
        job.kind = .compare(request)
        guard let (id, report) = try await run(job, subject: "\(item.name) (changes)") else { return nil }
        guard report.state == .done else {
            if let reason = report.reason { display.fail("\(PrintableText.of(reason))") }
            return nil
        }
        var parts: [ComparedPart] = []
        while true {
            let page = try await coordinator.page(ComparedPage.self, of: id, from: parts.count)
            for part in page.parts {
                guard case .difference(var result) = part, let planes = result.planes else {
                    parts.append(part)
                    continue
                }
                file?.add(planes)
                result.planes = nil
                parts.append(.difference(result))
            }
            if page.parts.isEmpty || parts.count >= page.total { return (parts, JobSummary.status(report)) }
        }
    }

    /// - Returns: `nil` where the job was not begun, which has been reported then.
    private func run(
        _ request: JobRequest, replacing failed: JobID? = nil, subject: String
    ) async throws -> (job: JobID, report: JobReport)? {
        let printer = EventPrinter(
            format: format, isVerbose: false, display: display, subject: subject,
            printsFailuresOnly: detail < .summary)
        let missing = MissingFiles(isElsewhere: coordinator.isElsewhere)
        do {
            return try await JobWatch(coordinator: coordinator, sender: sender)
                .run(Submission(request), replacing: failed, interrupts: interrupts) {
                    printer.print(missing.told($0))
                }
        } catch let failure as CommandFailure where failure.refusal != nil {
            if let message = failure.message { display.fail("\(PrintableText.of(subject)): \(message)") }
            return nil
        }
    }
}
