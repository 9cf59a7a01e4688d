import Base
import DequeModule
import Sky
import SkyCore
import Transport

/// Runs the jobs of `skynode scan`, a few images at a time, and writes what comes of each as soon as it is done.
struct ScanBatch: Sendable {
    let plan: ScanPlan
    let output: PreparedOutput
    let coordinator: CoordinatorReach
    let interrupts: Interrupts
    let display: ProgressDisplay
    let format: OutputFormat
    let detail: ScanDetail
    /// Whether to write what is done of a scan that was cancelled or given up.
    var keepsPartial = false
    /// Whether pictures are wanted.
    var draws = true
    private let tally = BatchTally()

    /// Images under way at once: enough to keep every slot busy over the ends of jobs, few enough to hold their
    /// catalogues in memory; on many slots three for two, so that an image can stay on one node.
    private static let widths = 4...64

    /// Room for the number of an HDU and a plane in an image's place among all.
    private static let orderBits = 20

    /// What came of an image.
    fileprivate struct Outcome: Sendable {
        var status: ExitStatus
        var place = 0
        /// The image, as it is called among those of its file.
        var name = ""
        /// Whether its catalogue is there, and of how many sources.
        var isWritten = false
        var sources = 0
        /// Whether its file holds masks and weights only.
        var isLeftOut = false
        /// Its place among the images, and its sources, where a catalogue of all is wanted.
        var section: (place: Int, CatalogueTable.Section)?
        /// What has changed since the reference.
        var compared: (place: Int, EpochComparer.Compared)?
        /// Further images that were found in its file.
        var others: [ScanItem] = []
    }

    /// An image, and its place among all: that of its file, then its HDU and its plane.
    private struct Turn {
        var item: ScanItem
        var place: Int
    }

    init(
        plan: ScanPlan, output: PreparedOutput, coordinator: CoordinatorReach, interrupts: Interrupts,
        display: ProgressDisplay,
        format: OutputFormat, detail: ScanDetail, keepsPartial: Bool, draws: Bool
    ) {
        self.plan = plan
        self.output = output
        self.coordinator = coordinator
        self.interrupts = interrupts
        self.display = display
        self.format = format
        self.detail = detail
        self.keepsPartial = keepsPartial
        self.draws = draws
    }

    private var isBatch: Bool { plan.items.count > 1 }

    /// The worst status of all images.
    func run() async throws -> ExitStatus {
        let (plan, output, tally, isBatch) = (plan, output, tally, isBatch)
        interrupts.beforeLeaving {
            output.removeFolderIfUnused()
            return isBatch ? tally.words(plan, keepsPartial: false) : nil
        }
        var reference: EpochComparer.Scanned?
        if let item = plan.reference {
            reference = try await comparer.scanned(item)
            guard let reference else { return interrupts.wasInterrupted ? .cancelled : .usage }
            tellOf(reference.catalogue.info, item)
        }
        return try await run(with: reference)
    }

    private var comparer: EpochComparer {
        EpochComparer(
            plan: plan, coordinator: coordinator, interrupts: interrupts, display: display, format: format,
            detail: detail)
    }

    private func run(with reference: EpochComparer.Scanned?) async throws -> ExitStatus {
        try await withThrowingTaskGroup(of: Outcome.self) { group in
            let start = ContinuousClock.now
            var totals = ScanTotals()
            totals.refused = plan.refusals.count
            var worst = plan.refusals.isEmpty ? ExitStatus.done : .usage
            var compared: [(place: Int, EpochComparer.Compared)] = []
            var sections: [(place: Int, section: CatalogueTable.Section)] = []
            // A file's images keep together in the catalogue of all.
            var waiting = Deque(plan.items.enumerated().map { Turn(item: $1, place: $0 << ScanBatch.orderBits) })
            let width = try await width()
            for _ in 0..<width {
                if let turn = waiting.popFirst() {
                    group.addTask { try await scan(turn.item, place: turn.place, reference) }
                }
            }
            var running = min(width, plan.items.count)
            var isCut = false
            var images: [Int: (written: [String], failed: [String])] = [:]
            while let outcome = try await group.next() {
                worst = max(worst, outcome.status)
                totals.count(outcome)
                let file = outcome.place >> ScanBatch.orderBits
                if outcome.isWritten {
                    images[file, default: ([], [])].written.append(outcome.name)
                } else if outcome.status == .usage {
                    images[file, default: ([], [])].failed.append(outcome.name)
                }
                running -= 1
                if outcome.status == .cancelled { isCut = true }
                if let section = outcome.section { sections.append(section) }
                if let one = outcome.compared { compared.append(one) }
                for item in outcome.others.reversed() {
                    waiting.prepend(Turn(item: item, place: file << ScanBatch.orderBits + item.order))
                }
                while running < width, !interrupts.wasInterrupted, let turn = waiting.popFirst() {
                    running += 1
                    group.addTask { try await scan(turn.item, place: turn.place, reference) }
                }
            }
            isCut = isCut || !waiting.isEmpty
            for file in images.keys.sorted() { images[file].map { tellOfGaps(plan.items[file].path, $0) } }
            // Where nothing else was there to be scanned, nothing was done.
            if totals.leftOut == plan.items.count { worst = max(worst, .usage) }
            var merged: [String] = []
            // A catalogue of all images that holds some of them would be taken for whole.
            if plan.merges || (sections.count > 1 && plan.mergesImagesOfOne), !sections.isEmpty, !isCut || keepsPartial
            {
                let ordered = sections.sorted { $0.place < $1.place }.map(\.section)
                let (status, files) = writeMerged(ordered, isPartial: isCut)
                worst = max(worst, status)
                merged = files
            }
            if isCut, isBatch { display.say("skynode: \(tally.words(plan, keepsPartial: keepsPartial))") }
            if !interrupts.wasInterrupted {
                let ordered = compared.sorted { $0.place < $1.place }.map(\.1)
                worst = max(worst, try await EpochFiles(comparer: comparer, compared: ordered).write())
            }
            if !isCut, !interrupts.wasInterrupted, totals.isMany, detail > .errors {
                let style = plan.output.isStandardOutput ? Console.errorStyle : Console.outputStyle
                tell([
                    totals.line(
                        start.duration(to: .now), plan.output, merged: detail > .line ? [] : merged, style: style
                    )
                ])
            }
            return interrupts.wasInterrupted ? .cancelled : worst
        }
    }

    private func width() async throws -> Int {
        guard plan.items.count > ScanBatch.widths.lowerBound else { return ScanBatch.widths.lowerBound }
        let nodes = try await coordinator.fetch { try await $0.nodes() }
        let slots = nodes.reduce(0) { $0 + ($1.member.isDraining ? 0 : $1.status?.slots ?? 0) }
        return min(max(slots * 3 / 2, ScanBatch.widths.lowerBound), ScanBatch.widths.upperBound)
    }

    /// - Returns: also what was written.
    private func writeMerged(
        _ sections: [CatalogueTable.Section], isPartial: Bool
    ) -> (status: ExitStatus, files: [String]) {
        var files: [String] = []
        let table = CatalogueTable(
            sections, configuration: plan.configuration, namesImages: plan.items.count > 1 || sections.count > 1)
        do {
            if case .standardOutput(let format) = plan.output {
                // What is cut off there looks whole too.
                if !isPartial { Console.output(bytes: try table.bytes(format)) }
                return (.done, [])
            }
            for (path, format) in plan.output.merged(besides: plan.stems, isPartial: isPartial) {
                try interrupts.whileWriting { () throws(SkyError) in try table.write(format, to: path) }
                files.append(path)
                if detail > .line { tell(["wrote \(PrintableText.of(path))"]) }
            }
            return (.done, files)
        } catch {
            display.fail(PrintableText.of(error.message))
            return (.usage, files)
        }
    }

    /// Lines of the summary. Where the catalogue goes to standard output, nothing else does.
    private func tell(_ lines: [String]) {
        guard format == .text else { return }
        if plan.output.isStandardOutput { lines.forEach(display.say) } else { display.output(lines) }
    }

    /// Of a file that is damaged in the middle, what there is a catalogue of.
    private func tellOfGaps(_ path: String, _ images: (written: [String], failed: [String])) {
        guard !images.written.isEmpty, !images.failed.isEmpty else { return }
        let words = [images.written, images.failed].map { names in
            let rest = names.count > Self.namesShown ? " and \(names.count - Self.namesShown) more" : ""
            return names.prefix(Self.namesShown).map { PrintableText.of($0) }.joined(separator: ", ") + rest
        }
        display.fail(
            "\(PrintableText.of(path)): there are catalogues of \(words[0]), none of \(words[1]); a catalogue of all "
                + "together lacks these")
    }

    /// Images that a line names.
    private static let namesShown = 8

    private func scan(
        _ item: ScanItem, place: Int, _ reference: EpochComparer.Scanned?
    ) async throws -> Outcome {
        var item = reference.map { item.compared(with: $0.catalogue.info.place) } ?? item
        let isOneOfMany = plan.items.count > 1 || item.hdu != nil || item.plane != nil
        let detail = isOneOfMany ? detail.ofOneInFile : detail
        let printer = EventPrinter(
            format: format, isVerbose: detail == .everything, display: display,
            subject: isOneOfMany ? item.name : nil, tellsFailuresOnly: detail < .summary)
        let shares = SectorShares()
        let (job, report) = try await JobWatch(coordinator: coordinator)
            .run(Submission(item.request), interrupts: interrupts) { batch in
                shares.count(batch)
                printer.tell(batch)
            }
        let status = JobSummary.status(report)
        if report.state != .done {
            let keeps = keepsPartial && !shares.list.isEmpty
            if let reason = report.reason, report.state != .cancelled, ImageRole.saysNoSky(reason) {
                // Of one image it is the whole answer, however little is to be said.
                if detail > .errors || !isBatch { display.say("skynode: \(PrintableText.of(reason))") }
                return Outcome(status: .done, place: place, isLeftOut: true)
            }
            if let reason = report.reason {
                display.fail(PrintableText.of(reason))
            } else if report.state == .cancelled, !isBatch {
                let rest = keeps ? "what is done is kept" : "nothing was written"
                display.say("skynode: \(PrintableText.of(item.name)): cancelled; \(rest)")
            }
            if !keeps {
                let info =
                    report.state == .cancelled
                    ? nil : try? await ScanResults(coordinator: coordinator, job: job).catalogue().info
                return Outcome(
                    status: status, place: place, name: item.name, others: info.map { self.others(of: item, $0) } ?? [])
            }
        }
        let results = ScanResults(coordinator: coordinator, job: job)
        let catalogue = try await results.catalogue(withDigestOf: item.path)
        let others = self.others(of: item, catalogue.info)
        let info = catalogue.info
        if others.contains(where: { $0.hdu != nil && $0.hdu != item.hdu }) {
            item = item.named(hdu: info.hdu, besides: plan.stems)
        }
        let isColour = others.contains { $0.plane != nil }
        if isColour { item = item.named(plane: 1, besides: plan.stems) }
        tellOf(info, item)
        let further: Further
        do {
            further = try await self.further(item, job, catalogue, report, reference)
        } catch let error as SkyError {
            display.fail(
                "\(PrintableText.of(item.name)): \(PrintableText.of(error.message)); nothing of it was written"
            )
            return Outcome(status: .usage, place: place, name: item.name, others: others)
        }
        let preview = plan.output.isFile ? nil : try await results.preview()
        let runs = preview == nil ? [] : try await results.runs()
        let output = ScanFiles(
            name: item.name, stem: item.stem, formats: plan.output.isFile ? [] : plan.output.formats,
            configuration: plan.configuration, catalogue: catalogue, companions: item.companions,
            detection: item.detection)
        let isOne = item.hdu == nil && item.plane == nil
        let section = plan.merges || !isOne ? (place, output.section) : nil
        var files: [String]
        var isWritten = false
        do {
            files = try interrupts.whileWriting { () throws(SkyError) in
                try output.write(
                    preview: preview, runs: runs, facts: JobSummary.facts(report), others: furtherFiles(report))
            }
            if let request = item.request.kind.scan, let images = request.checkImages {
                files += try await results.writeCheckImages(
                    images, stem: item.stem, catalogue: catalogue, configuration: plan.configuration,
                    interrupts: interrupts)
            }
            tally.count(wholly: report.state == .done)
            isWritten = true
        } catch let error as SkyError {
            // One image's results that cannot be written are no reason to give up the others.
            display.fail(PrintableText.of(error.message))
            return Outcome(status: .usage, place: place, name: item.name, section: section, others: others)
        }
        if format == .text {
            let summary = ScanSummary(
                item: item, plan: plan, report: report, shares: shares.list, catalogue: catalogue, files: files)
            switch others.isEmpty ? detail : detail.ofOneInFile {
            case .errors: break
            case .line: tell([summary.line])
            case .summary, .everything: tell(summary.lines)
            }
        } else if let line = try? JSONLine.encode(
            CatalogueLine(item: item, catalogue: catalogue, configuration: plan.configuration, files: files))
        {
            display.output([line])
        }
        // A file that is cut off in a header is as damaged as one that is cut off in its pixels.
        let isDamaged = info.auxiliaries?.contains(where: FITSImage.saysDamaged) ?? false
        var outcome = Outcome(
            status: isDamaged ? max(status, .usage) : status, place: place, name: item.name,
            isWritten: isWritten, sources: catalogue.sources.count, section: section, others: others)
        if let reference, let (new, pair) = further.epochs, !interrupts.wasInterrupted {
            do {
                outcome.compared = try await comparer.compare(item, new, with: reference, pair).map { (place, $0) }
                if outcome.compared == nil { outcome.status = max(outcome.status, .partlyFailed) }
            } catch let error as SkyError {
                display.fail(
                    "\(PrintableText.of(item.name)) cannot be compared with \(PrintableText.of(reference.name)): "
                        + PrintableText.of(error.message))
                outcome.status = max(outcome.status, .usage)
            }
        }
        if report.state == .done, !interrupts.wasInterrupted {
            outcome.status = max(outcome.status, try await test(item, further.injections, catalogue))
        }
        return outcome
    }

    /// What is written after an image's page, unless it fails, so that the page leads there.
    private func furtherFiles(_ report: JobReport) -> [(name: String, ending: String)] {
        guard report.state == .done, !interrupts.wasInterrupted else { return [] }
        var files: [(name: String, ending: String)] = []
        if let reference = plan.reference {
            files.append(("What has changed since \(reference.name)", ".changes.html"))
        }
        if plan.injection != nil {
            files.append(("How faint the scan sees: artificial stars, as a plot", ".injection.svg"))
            files.append(("The same, star by star", ".injection.csv"))
        }
        return files
    }

    /// The further images of a file.
    private func others(of item: ScanItem, _ info: ImageInfo) -> [ScanItem] {
        // No file has more HDUs; those of the file that are weights and masks are no pictures of the sky.
        let own = item.companions.map { [$0.noise, $0.mask].compactMap(\.self) } ?? []
        let hdus = own.filter { $0.path == item.path }.compactMap(\.hdu)
        let images = (info.images ?? []).filter { (0..<10_000).contains($0) && !hdus.contains($0) }
        if images.count > 1, !hdus.isEmpty {
            display.say(
                "\(PrintableText.of(item.path)): its other images are not scanned, as hdu:N belongs to one; --hdu names another"
            )
            return []
        }
        let stems = plan.stems
        let further = images.count > 1 ? images.dropFirst().map { item.of(hdu: $0, besides: stems) } : []
        guard let cube = info.cube, cube.isColourImage, item.layer?.plane == nil else { return further }
        let named = further.isEmpty ? item : item.of(hdu: info.hdu, besides: stems)
        return (2...ImageCube.colours).map { named.of(plane: $0, besides: stems) } + further
    }

    /// What is done with an image after its scan, found out before anything of it is written.
    private struct Further {
        /// Stars to be put into it; none where it is not tested with any.
        var injections: [Injection] = []
        /// How it fits to the reference; `nil` where it is not compared.
        var epochs: (new: EpochComparer.Scanned, pair: EpochPair)?
    }

    /// - Throws: `SkyError` where a comparison or a test with stars is asked for and cannot be had, with the reason.
    private func further(
        _ item: ScanItem, _ job: JobID, _ catalogue: Catalogue, _ report: JobReport,
        _ reference: EpochComparer.Scanned?
    ) async throws -> Further {
        var further = Further()
        guard report.state == .done, !interrupts.wasInterrupted else { return further }
        if let demand = plan.injection, let request = item.request.kind.scan {
            further.injections = try demand.rounds(for: catalogue, configuration: request.configuration)
        }
        guard let reference, let new = try await comparer.scanned(item, job, catalogue) else { return further }
        if plan.writesDifference { try DifferenceFile.check(new.catalogue.info) }
        do {
            further.epochs = (new, try await comparer.pair(new, with: reference))
        } catch let error as SkyError {
            throw SkyError(error.kind, "it cannot be compared with \(reference.name): \(error.message)")
        }
        return further
    }

    /// What a person might not expect of an image.
    private func tellOf(_ info: ImageInfo, _ item: ScanItem) {
        guard format == .text else { return }
        let lines = LayerLines(item: item, info: info)
        for line in detail > .errors ? lines.lines : lines.damage {
            display.say("\(PrintableText.of(item.path)): \(line)")
        }
    }

    /// What the scan makes of artificial stars, where that is wanted.
    private func test(
        _ item: ScanItem, _ injections: [Injection], _ catalogue: Catalogue
    ) async throws -> ExitStatus {
        guard !injections.isEmpty else { return .done }
        return try await InjectionTest(
            coordinator: coordinator, interrupts: interrupts, display: display, format: format,
            detail: detail, draws: draws
        ).run(item, injections, plain: catalogue)
    }
}

extension ScanTotals {
    fileprivate mutating func count(_ outcome: ScanBatch.Outcome) {
        if outcome.isLeftOut {
            leaveOut()
        } else if outcome.isWritten {
            add(sources: outcome.sources)
        } else if outcome.status != .cancelled {
            fail(outcome.name)
        }
    }
}
