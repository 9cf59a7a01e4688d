import Base
import NIOConcurrencyHelpers
import Sky
import SkyCore
import SkyJobs
import Transport

/// Scans one image of `skynode scan` and writes its results. It carries out the actions of an `ImageProgress`.
struct ImageScanner: Sendable {
    /// The result of an image, with its data for the catalogue of all images and for the changes.
    struct Result: Sendable {
        var outcome: ImageOutcome
        var section: CatalogueTable.Section?
        var compared: EpochComparer.Compared?
        /// Where the time went until its files were written; `nil` if they were not.
        var timing: ScanTiming?
    }

    let rules: ImageProgress.Rules
    let coordinator: CoordinatorConnection
    let interrupts: Interrupts
    let display: ProgressDisplay
    /// Whether pictures are requested.
    let draws: Bool
    /// The images that are written by now, of all scanners.
    let written: NIOLockedValueBox<ScanTotals>
    /// The first job of the command, if it was begun before its turn.
    let firstJob: FirstJob?
    let comparer: EpochComparer
    /// The image with which this one is compared; `nil` for none.
    let reference: EpochComparer.Scanned?
    /// How long the command took to find its node, if that belongs to this image.
    let start: Duration?

    private var plan: ScanPlan { rules.plan }

    /// The data of an image that one step hands to the next.
    private struct Findings {
        var job: JobID
        var report: JobReport
        var shares: [(node: String, sectors: Int)]
        /// What the file held, if it was read beside the scan.
        var content: FileContent?
        var catalogue: Catalogue?
        /// The artificial stars to put into it; empty where it is not tested with any.
        var injections: [Injection] = []
        /// How it fits the reference; `nil` where it is not compared.
        var epochs: (new: EpochComparer.Scanned, pair: EpochPair)?
        /// A small picture of the image; `nil` where no pictures and no report are written.
        var preview: ImagePreview?
        var runs: [SectorRun] = []
        var section: CatalogueTable.Section?
        var files: [String] = []
        var compared: EpochComparer.Compared?
        var laps: ScanLaps
        var phases: PhaseTimes
        /// Where the time went; `nil` until the files are written.
        var timing: ScanTiming?

        /// The same so far, while the files are being written.
        var timingSoFar: ScanTiming { ScanTiming(laps, phases, report) }
    }

    func scan(_ item: ScanItem, place: Int) async throws -> Result {
        var item = reference.map { item.compared(with: $0.catalogue.info.place) } ?? item
        item.request = try await comparer.sender.expecting(item.request)
        var progress = ImageProgress(item, place: place, reference: reference?.name, rules)
        var findings: Findings
        do {
            findings = try await run(progress)
        } catch let failure as CommandFailure where failure.refusal != nil {
            return refused(item, place, failure)
        }
        do {
            while let request = try await comparer.sender.completed(
                item.request, after: findings.report)
            {
                (item.request, item.token) = (request, nil)
                progress = ImageProgress(item, place: place, reference: reference?.name, rules)
                findings = try await run(progress, replacing: findings.job)
            }
        } catch let error as SkyError {
            findings.report.reason = error.message
        } catch let failure as CommandFailure where failure.refusal != nil {
            return refused(item, place, failure)
        }
        var actions = progress.handle(
            .scanned(findings.report, hasSectors: !findings.shares.isEmpty), isInterrupted: interrupts.wasInterrupted)[
                ...]
        while let action = actions.popFirst() {
            if case .finish(let outcome) = action {
                return Result(
                    outcome: outcome, section: outcome.hasSection ? findings.section : nil,
                    compared: findings.compared, timing: findings.timing)
            }
            guard let event = try await carryOut(action, progress.item, &findings) else { continue }
            actions += progress.handle(event, isInterrupted: interrupts.wasInterrupted)
        }
        throw CommandFailure(.partlyFailed, "\(PrintableText.of(item.name)): the scan was left unfinished")
    }

    /// The result of an image whose job was not begun. The other images go on.
    private func refused(_ item: ScanItem, _ place: Int, _ failure: CommandFailure) -> Result {
        if let message = failure.message {
            let isNamed = !rules.isBatch || message.contains(PrintableText.of(item.path))
            display.fail(isNamed ? message : "\(PrintableText.of(item.name)): \(message)")
        }
        return Result(outcome: ImageOutcome(status: failure.status, place: place, name: item.name))
    }

    /// Submits the image's job and follows it to its end.
    ///
    /// - Parameter failed: the image's earlier job, which lacked its files.
    private func run(_ progress: ImageProgress, replacing failed: JobID? = nil) async throws -> Findings {
        let printer = EventPrinter(
            format: rules.format, isVerbose: progress.detail == .everything, display: display,
            subject: progress.subject, printsFailuresOnly: progress.detail < .summary)
        let missing = MissingFiles(isElsewhere: coordinator.isElsewhere)
        let shares = SectorShares()
        let phases = NIOLockedValueBox(PhaseTimes())
        var laps = ScanLaps(start: start, from: .now)
        let item = progress.item
        // Where earlier results may answer, a node reads the content of the file. A node inside the command has none.
        let isRead = item.request.kind.scan?.usesCache == false || !coordinator.isElsewhere
        let reading = firstJob?.reading(of: item) ?? ContentReading(of: item.path)
        async let content = isRead ? reading.content() : nil
        let (job, report) = try await JobWatch(coordinator: coordinator, sender: comparer.sender)
            .run(Submission(item.request, token: item.token), replacing: failed, interrupts: interrupts) { batch in
                shares.count(batch)
                phases.withLockedValue { phases in for event in batch.events { phases.add(event) } }
                printer.print(missing.told(batch))
            }
        laps.end(.job, at: .now)
        var findings = Findings(
            job: job, report: report, shares: shares.list, laps: laps, phases: phases.withLockedValue { $0 })
        guard isRead, report.state != .cancelled else { return findings }
        findings.content = await content
        findings.laps.end(.digest, at: .now)
        return findings
    }

    /// - Returns: the event that results from the action; `nil` where there is none.
    private func carryOut(
        _ action: ImageProgress.Action, _ item: ScanItem, _ findings: inout Findings
    ) async throws -> ImageProgress.Event? {
        let results = ScanFetcher(coordinator: coordinator, job: findings.job)
        switch action {
        case .say(let line): display.say(line)
        case .fail(let message): display.fail(message)
        case .lookForOthers: return .looked(try? await results.catalogue().info)
        case .fetch:
            var (catalogue, merge) = try await results.timedCatalogue()
            findings.laps.merge = merge
            findings.laps.end(.fetch, at: .now)
            if await ScanFetcher.addDigest(of: item.path, content: findings.content, to: &catalogue) {
                findings.laps.end(.digest, at: .now)
            }
            if item.request.kind.scan?.usesCache == false {
                // Nodes do not read these files as a whole then. Of one that was sent the digest is known all the same, and a catalogue
                // does not depend on where a file lies.
                catalogue.info.noiseContent?.isSample = true
                catalogue.info.maskContent?.isSample = true
                catalogue.info.detection?.content?.isSample = true
            }
            findings.catalogue = catalogue
            return .fetched(catalogue.info, sources: catalogue.sources.count)
        case .prepare(let compares, let injects):
            guard let catalogue = findings.catalogue else { break }
            do {
                if injects { findings.injections = try injections(item, catalogue) }
                if compares { findings.epochs = try await epochs(item, findings.job, catalogue) }
            } catch let error as SkyError {
                return .cannotBePrepared(error.message)
            }
            findings.laps.end(.preparation, at: .now)
            return .prepared(isComparable: findings.epochs != nil, hasStars: !findings.injections.isEmpty)
        case .fetchPicture:
            findings.preview = try await results.preview()
            if findings.preview != nil { findings.runs = try await results.runs() }
            findings.laps.end(.fetch, at: .now)
            return .drawn
        case .write(let further):
            do {
                try await write(item, further, results, &findings)
                return .written
            } catch let error as SkyError {
                return .notWritten(error.message)
            }
        case .count(let sources, let wholly): written.withLockedValue { $0.add(sources: sources, wholly: wholly) }
        case .showSummary(let detail, let report): showSummary(item, detail, report, findings)
        case .compare:
            guard let reference, let (new, pair) = findings.epochs else { break }
            do {
                findings.compared = try await comparer.compare(item, new, with: reference, pair)
                return .compared(isKnown: findings.compared != nil)
            } catch let error as SkyError {
                return .cannotBeCompared(error.message)
            }
        case .test:
            guard let catalogue = findings.catalogue else { break }
            let test = InjectionTest(
                coordinator: coordinator, sender: comparer.sender, interrupts: interrupts, display: display,
                format: rules.format, detail: rules.detail, draws: draws, overwrites: plan.overwrites)
            return .tested(try await test.run(item, findings.injections, plain: catalogue))
        case .finish: break
        }
        return nil
    }

    // MARK: - The steps after the scan

    /// - Throws: `SkyError` where the image cannot be tested with stars, with the reason.
    private func injections(_ item: ScanItem, _ catalogue: Catalogue) throws -> [Injection] {
        guard let demand = plan.injection, let request = item.request.kind.scan else { return [] }
        return try demand.rounds(for: catalogue, configuration: request.configuration)
    }

    /// - Throws: `SkyError` where the image cannot be compared, with the reason.
    private func epochs(
        _ item: ScanItem, _ job: JobID, _ catalogue: Catalogue
    ) async throws -> (new: EpochComparer.Scanned, pair: EpochPair)? {
        guard let reference, let new = try await comparer.scanned(item, job, catalogue) else { return nil }
        if plan.writesDifference { try DifferenceFile.check(new.catalogue.info) }
        do {
            return (new, try await comparer.pair(new, with: reference))
        } catch let error as SkyError {
            throw SkyError(error.kind, "it cannot be compared with \(reference.name): \(error.message)")
        }
    }

    // MARK: - Files and lines

    /// - Throws: `SkyError` naming the file that cannot be written and the reason.
    private func write(
        _ item: ScanItem, _ further: [(name: String, ending: String)], _ results: ScanFetcher,
        _ findings: inout Findings
    ) async throws {
        guard let catalogue = findings.catalogue else { return }
        var output = ScanFiles(
            name: item.name, stem: item.stem, formats: plan.output.isFile ? [] : plan.output.formats,
            configuration: plan.configuration, catalogue: catalogue, companions: item.companions,
            detection: item.detection)
        output.times = findings.timingSoFar.forReport
        findings.section = output.section
        output.overwrites = plan.overwrites
        if let images = item.request.kind.scan?.checkImages {
            output.checkImages = try await results.checkImages(images, of: catalogue)
            findings.laps.end(.checkImages, at: .now)
        }
        let (preview, runs, facts) = (findings.preview, findings.runs, JobSummary.facts(findings.report))
        let written = try await interrupts.whileWriting { [output] in
            try await output.write(preview: preview, runs: runs, facts: facts, others: further)
        }
        findings.files = written.paths
        (findings.laps.catalogues, findings.laps.pictures) = (written.catalogues, written.pictures)
        findings.laps.end(.files, at: .now)
        findings.timing = findings.timingSoFar
    }

    private func showSummary(_ item: ScanItem, _ detail: ScanDetail, _ report: JobReport, _ findings: Findings) {
        guard let catalogue = findings.catalogue else { return }
        if rules.format == .text {
            let summary = ScanSummary(
                item: item, plan: plan, report: report, shares: findings.shares, catalogue: catalogue,
                hasPicture: findings.preview != nil, files: findings.files)
            switch detail {
            case .errors: break
            case .line: display.output([summary.line], plan.output)
            case .summary, .everything: display.output(summary.lines, plan.output)
            }
        } else if let line = try? JSONLine.encode(
            CatalogueLine(
                item: item, catalogue: catalogue, configuration: plan.configuration, files: findings.files))
        {
            display.output([line])
        }
        guard rules.printsTiming, let timing = findings.timing else { return }
        if rules.format == .json {
            if let line = try? JSONLine.encode(TimingLine(timing, subject: item.name)) { display.output([line]) }
        } else if rules.detail == .everything {
            // Of one image, and of all together, it is printed at the end.
            display.output(TimingLines(timing, of: item.name).lines, plan.output)
        }
    }
}

extension ProgressDisplay {
    /// Prints the lines of a summary. They do not go to standard output where the catalogue goes there.
    func output(_ lines: [String], _ place: OutputPlace) {
        if place.isStandardOutput { lines.forEach(say) } else { output(lines) }
    }
}
