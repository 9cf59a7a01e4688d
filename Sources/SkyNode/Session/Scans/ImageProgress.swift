import Base
import Sky
import SkyCore
import SkyJobs

/// Decides what is done next with one image of `skynode scan`, from its scan to its files, its summary and its comparison.
struct ImageProgress: Sendable {
    /// The settings of the command that apply to each of its images.
    struct Rules: Sendable {
        let plan: ScanPlan
        let format: OutputFormat
        let detail: ScanDetail
        /// Whether to write the finished part of a scan that was cancelled or given up.
        let keepsPartial: Bool
        /// Whether to print where the time went.
        var printsTiming = false

        var isBatch: Bool { plan.items.count > 1 }
    }

    enum State: Equatable, Sendable {
        case scanning
        /// The scan failed, and its file may hold further images.
        case lookingForOthers
        case fetching
        /// It is being checked whether the steps after the scan can be done.
        case preparing
        /// Its picture is being fetched.
        case drawing
        case writing
        case comparing
        case testing
        case ended
    }

    enum Event: Sendable {
        /// - Parameter hasSectors: whether any sector is done.
        case scanned(JobReport, hasSectors: Bool)
        /// The information about its file from a scan that failed; `nil` where there is none.
        case looked(ImageInfo?)
        case fetched(ImageInfo, sources: Int)
        /// - Parameters:
        ///   - isComparable: whether the image fits the reference.
        ///   - hasStars: whether there are artificial stars to put into it.
        case prepared(isComparable: Bool, hasStars: Bool)
        case cannotBePrepared(String)
        case drawn
        case written
        case notWritten(String)
        /// - Parameter isKnown: `false` where the comparison failed, which has been reported then.
        case compared(isKnown: Bool)
        case cannotBeCompared(String)
        case tested(ExitStatus)
    }

    enum Action: Sendable {
        case say(String)
        case fail(String)
        case lookForOthers
        case fetch
        case prepare(compares: Bool, injects: Bool)
        /// Fetch its picture, and which node scanned which sector.
        case fetchPicture
        /// - Parameter further: the files that are written after the image's page, unless that fails. The page links to them.
        case write(further: [(name: String, ending: String)])
        /// Count the image, for a user who stops the batch before its end.
        case count(sources: Int, wholly: Bool)
        /// Print the summary of the scan.
        case showSummary(ScanDetail, JobReport)
        case compare
        case test
        case finish(ImageOutcome)
    }

    private(set) var state = State.scanning
    /// The image. Its name changes when its file turns out to hold several images.
    private(set) var item: ScanItem
    /// How much is printed about the image.
    let detail: ScanDetail
    /// The name that is printed with its events, where there are several images.
    let subject: String?

    private let rules: Rules
    private let reference: String?
    private var outcome: ImageOutcome
    private var report: JobReport?
    private var sources = 0
    private var hasStars = false
    private var isComparable = false

    /// - Parameter reference: the name of the image with which it is compared; `nil` for none.
    init(_ item: ScanItem, place: Int, reference: String?, _ rules: Rules) {
        self.item = item
        self.rules = rules
        self.reference = reference
        let isOneOfMany = rules.isBatch || item.hdu != nil || item.plane != nil
        detail = isOneOfMany ? rules.detail.ofOneInFile : rules.detail
        subject = isOneOfMany ? item.name : nil
        outcome = ImageOutcome(status: .done, place: place)
    }

    /// - Parameter isInterrupted: whether the command has been asked to stop. Nothing more is begun then.
    mutating func handle(_ event: Event, isInterrupted: Bool) -> [Action] {
        switch (state, event) {
        case (.scanning, .scanned(let report, let hasSectors)):
            return scanned(report, hasSectors)
        case (.lookingForOthers, .looked(let info)):
            var actions: [Action] = []
            if let info { actions = addOthers(info) }
            return actions + finish()
        case (.fetching, .fetched(let info, let sources)):
            return fetched(info, sources, isInterrupted)
        case (.preparing, .prepared(let isComparable, let hasStars)):
            (self.isComparable, self.hasStars) = (isComparable, hasStars)
            return draw(isInterrupted)
        case (.preparing, .cannotBePrepared(let reason)):
            outcome.status = .usage
            return [.fail("\(name): \(PrintableText.of(reason)); nothing of it was written")] + finish()
        case (.drawing, .drawn):
            return write(isInterrupted)
        case (.writing, .written):
            (outcome.isWritten, outcome.sources, outcome.isWhole) = (true, sources, isWhole)
            guard let report else { return finish() }
            let actions: [Action] = [
                .count(sources: sources, wholly: isWhole),
                .showSummary(outcome.others.isEmpty ? detail : detail.ofOneInFile, report),
            ]
            guard isComparable, !isInterrupted else { return actions + test(isInterrupted) }
            state = .comparing
            return actions + [.compare]
        case (.writing, .notWritten(let reason)):
            // The other images go on, although the results of this one cannot be written.
            outcome.status = .usage
            return [.fail(PrintableText.of(reason))] + finish()
        case (.comparing, .compared(let isKnown)):
            outcome.isCompared = isKnown
            if !isKnown { outcome.status = max(outcome.status, .partlyFailed) }
            return test(isInterrupted)
        case (.comparing, .cannotBeCompared(let reason)):
            outcome.status = max(outcome.status, .usage)
            let words =
                "\(name) cannot be compared with \(PrintableText.of(reference ?? "")): \(PrintableText.of(reason))"
            return [.fail(words)] + test(isInterrupted)
        case (.testing, .tested(let status)):
            outcome.status = max(outcome.status, status)
            return finish()
        default:
            return []
        }
    }

    private var name: String { PrintableText.of(item.name) }

    private mutating func finish() -> [Action] {
        state = .ended
        return [.finish(outcome)]
    }

    // MARK: - After the scan

    private mutating func scanned(_ report: JobReport, _ hasSectors: Bool) -> [Action] {
        self.report = report
        outcome.status = JobSummary.status(report)
        guard report.state != .done else { return fetch() }
        let keeps = rules.keepsPartial && hasSectors
        var actions: [Action] = []
        if let reason = report.reason, report.state != .cancelled, ImageRole.saysNoSky(reason) {
            // If there is only one image, this reason is the whole answer. It is printed however little output is requested.
            if detail > .errors || !rules.isBatch { actions.append(.say("skynode: \(PrintableText.of(reason))")) }
            (outcome.status, outcome.isLeftOut) = (.done, true)
            return actions + finish()
        }
        if let reason = report.reason {
            actions.append(.fail(PrintableText.of(reason)))
        } else if report.state == .cancelled, !rules.isBatch {
            let rest = keeps ? "what is done is kept" : "nothing was written"
            actions.append(.say("skynode: \(name): cancelled; \(rest)"))
        }
        guard !keeps else { return actions + fetch() }
        outcome.name = item.name
        guard report.state != .cancelled else { return actions + finish() }
        state = .lookingForOthers
        return actions + [.lookForOthers]
    }

    private mutating func fetch() -> [Action] {
        state = .fetching
        return [.fetch]
    }

    private mutating func fetched(_ info: ImageInfo, _ sources: Int, _ isInterrupted: Bool) -> [Action] {
        var actions = addOthers(info)
        if outcome.others.contains(where: { $0.hdu != nil && $0.hdu != item.hdu }) {
            item = item.named(hdu: info.hdu, besides: rules.plan.stems)
        }
        if outcome.others.contains(where: { $0.plane != nil }) {
            item = item.named(plane: 1, besides: rules.plan.stems)
        }
        (outcome.name, self.sources) = (item.name, sources)
        // A file that is cut off in a header is as damaged as a file that is cut off in its pixels.
        if info.auxiliaries?.contains(where: FITSImage.saysDamaged) == true {
            outcome.status = max(outcome.status, .usage)
        }
        if rules.format == .text {
            actions += LayerLines(item: item, info: info).shown(at: rules.detail).map(Action.say)
        }
        let (compares, injects) = (reference != nil, rules.plan.injection != nil)
        guard isWhole, !isInterrupted, compares || injects else { return actions + draw(isInterrupted) }
        state = .preparing
        return actions + [.prepare(compares: compares, injects: injects)]
    }

    private var isWhole: Bool { report?.state == .done }

    /// Records the further images of its file.
    ///
    /// - Returns: the message where they are not scanned.
    private mutating func addOthers(_ info: ImageInfo) -> [Action] {
        // No file has more HDUs than this limit. HDUs that are weights or masks are no pictures of the sky.
        let own = item.companions.map { [$0.noise, $0.mask].compactMap(\.self) } ?? []
        let hdus = own.filter { $0.path == item.path }.compactMap(\.hdu)
        let images = (info.images ?? []).filter { (0..<10_000).contains($0) && !hdus.contains($0) }
        if images.count > 1, !hdus.isEmpty {
            let words = "its other images are not scanned, as hdu:N belongs to one; --hdu names another"
            return [.say("\(PrintableText.of(item.path)): \(words)")]
        }
        let stems = rules.plan.stems
        let further = images.count > 1 ? images.dropFirst().map { item.of(hdu: $0, besides: stems) } : []
        outcome.others = further
        guard let cube = info.cube, cube.isColourImage, item.layer?.plane == nil else { return [] }
        let named = further.isEmpty ? item : item.of(hdu: info.hdu, besides: stems)
        outcome.others = (2...ImageCube.colours).map { named.of(plane: $0, besides: stems) } + further
        return []
    }

    // MARK: - Files, and the steps after them

    private mutating func draw(_ isInterrupted: Bool) -> [Action] {
        guard !rules.plan.output.isFile else { return write(isInterrupted) }
        state = .drawing
        return [.fetchPicture]
    }

    private mutating func write(_ isInterrupted: Bool) -> [Action] {
        state = .writing
        let isOne = item.hdu == nil && item.plane == nil
        outcome.hasSection = rules.plan.merges || !isOne
        var further: [(name: String, ending: String)] = []
        if isWhole, !isInterrupted {
            if let reference = rules.plan.reference {
                further.append(("What has changed since \(reference.name)", ".changes.html"))
            }
            if rules.plan.injection != nil {
                further.append(("How faint the scan sees: artificial stars, as a plot", ".injection.svg"))
                further.append(("The same, star by star", ".injection.csv"))
            }
        }
        return [.write(further: further)]
    }

    private mutating func test(_ isInterrupted: Bool) -> [Action] {
        guard isWhole, !isInterrupted, hasStars else { return finish() }
        state = .testing
        return [.test]
    }
}
