import Base
import DequeModule
import Sky
import SkyCore
import SkyJobs

/// Decides what is done next with the images of `skynode scan`: which are scanned, a few at a time, and how the command ends.
struct BatchProgress: Sendable {
    enum State: Equatable, Sendable {
        case scanningReference
        /// The coordinator is asked how many slots there are.
        case countingSlots
        case scanning
        /// The catalogue of all images is being written.
        case merging
        /// The changes since the reference are being written.
        case comparing
        case ended
    }

    enum Event: Sendable {
        case begun
        /// The reference has been scanned; the value is `nil` where its scan failed.
        case referenceScanned(ImageInfo?)
        /// The number of slots on nodes that take new work.
        case slotsCounted(Int)
        case imageEnded(ImageOutcome)
        /// The job of an image cannot be watched: the node is lost, or refused it.
        case failed(any Error)
        case merged(ExitStatus, files: [String])
        case changesWritten(ExitStatus)
    }

    enum Action: Sendable {
        case scanReference(ScanItem)
        case countSlots
        case scan(ScanItem, place: Int)
        case say(String)
        case fail(String)
        /// Write the catalogue of all images, with the sources of the images at these places, in this order.
        case merge([Int], isPartial: Bool)
        /// Say what was written before the batch was stopped.
        case sayStop(ScanTotals)
        /// Write the changes in the images at these places.
        case writeChanges([Int])
        /// Print the totals.
        case close(ScanTotals, Duration, merged: [String])
        case finish(ExitStatus)
        /// End at once. All images have the same coordinator, so none of them is watched any more.
        case abandon(any Error)
    }

    /// The number of images under way at once. There are enough to keep every slot busy while jobs end, and few enough to hold
    /// their catalogues in memory. On many slots there are three images for two slots, so that an image can stay on one node.
    static let widths = 4...64

    /// The number of bits for an HDU and a plane in the place of an image among all images.
    static let orderBits = 20

    /// Largest number of images that a line names.
    private static let namesShown = 8

    private(set) var state = State.scanning
    private let rules: ImageProgress.Rules
    private var plan: ScanPlan { rules.plan }
    private var start: ContinuousClock.Instant?
    private var width = BatchProgress.widths.lowerBound
    /// The images that wait, each with its place. The place is made of that of its file, then its HDU and its plane.
    private var waiting: Deque<(item: ScanItem, place: Int)> = []
    private var running = 0
    private var totals = ScanTotals()
    private var worst: ExitStatus
    /// Whether images are missing, because the command was asked to stop.
    private var isCut = false
    private var sections: [Int] = []
    private var compared: [Int] = []
    private var merged: [String] = []
    /// The images of each file, by the file's place: those with a catalogue, and those without one.
    private var images: [Int: (written: [String], failed: [String])] = [:]

    init(_ rules: ImageProgress.Rules) {
        self.rules = rules
        totals.refused = rules.plan.refusals.count
        worst = rules.plan.refusals.isEmpty ? .done : .usage
    }

    /// - Parameter isInterrupted: whether the command has been asked to stop. No further image is begun then.
    mutating func handle(_ event: Event, isInterrupted: Bool, at now: ContinuousClock.Instant) -> [Action] {
        switch event {
        case .begun:
            guard let reference = plan.reference else { return begin(at: now) }
            state = .scanningReference
            return [.scanReference(reference)]
        case .referenceScanned(let info):
            guard let info, let reference = plan.reference else { return finish(isInterrupted ? .cancelled : .usage) }
            let lines =
                rules.format == .text ? LayerLines(item: reference, info: info).shown(at: rules.detail) : []
            return lines.map(Action.say) + begin(at: now)
        case .slotsCounted(let slots):
            let widths = BatchProgress.widths
            width = min(max(slots * 3 / 2, widths.lowerBound), widths.upperBound)
            return scanNext(isInterrupted: false, at: now)
        case .imageEnded(let outcome):
            note(outcome)
            return scanNext(isInterrupted: isInterrupted, at: now)
        case .failed(let error):
            state = .ended
            return [.abandon(error)]
        case .merged(let status, let files):
            worst = max(worst, status)
            merged = files
            return sayWhatIsCut() + compare(isInterrupted, at: now)
        case .changesWritten(let status):
            worst = max(worst, status)
            return close(isInterrupted, at: now)
        }
    }

    // MARK: - Images

    private mutating func begin(at now: ContinuousClock.Instant) -> [Action] {
        start = now
        // The images of a file stay together in the catalogue of all images.
        waiting = Deque(plan.items.enumerated().map { ($1, $0 << BatchProgress.orderBits) })
        guard plan.items.count > BatchProgress.widths.lowerBound else { return scanNext(isInterrupted: false, at: now) }
        state = .countingSlots
        return [.countSlots]
    }

    private mutating func scanNext(isInterrupted: Bool, at now: ContinuousClock.Instant) -> [Action] {
        state = .scanning
        var actions: [Action] = []
        while running < width, !isInterrupted, let next = waiting.popFirst() {
            running += 1
            actions.append(.scan(next.item, place: next.place))
        }
        return running > 0 ? actions : sayGaps() + merge(isInterrupted, at: now)
    }

    private mutating func note(_ outcome: ImageOutcome) {
        running -= 1
        worst = max(worst, outcome.status)
        count(outcome)
        if outcome.status == .cancelled { isCut = true }
        if outcome.hasSection { sections.append(outcome.place) }
        if outcome.isCompared { compared.append(outcome.place) }
        let file = outcome.place >> BatchProgress.orderBits
        if outcome.isWritten {
            images[file, default: ([], [])].written.append(outcome.name)
        } else if outcome.status == .usage {
            images[file, default: ([], [])].failed.append(outcome.name)
        }
        for item in outcome.others.reversed() {
            waiting.prepend((item, file << BatchProgress.orderBits + item.order))
        }
    }

    private mutating func count(_ outcome: ImageOutcome) {
        if outcome.isLeftOut {
            totals.leaveOut()
        } else if outcome.isWritten {
            totals.add(sources: outcome.sources, wholly: outcome.isWhole)
        } else if outcome.status != .cancelled {
            totals.fail(outcome.name)
        }
    }

    // MARK: - The end

    /// Reports, for files that are damaged in the middle, which images have a catalogue and which do not.
    private func sayGaps() -> [Action] {
        images.sorted { $0.key < $1.key }.compactMap { file, images in
            guard !images.written.isEmpty, !images.failed.isEmpty else { return nil }
            let words = [images.written, images.failed].map { names in
                let rest = names.count > Self.namesShown ? " and \(names.count - Self.namesShown) more" : ""
                return names.prefix(Self.namesShown).map { PrintableText.of($0) }.joined(separator: ", ") + rest
            }
            return .fail(
                "\(PrintableText.of(plan.items[file].path)): there are catalogues of \(words[0]), none of \(words[1]); "
                    + "a catalogue of all together lacks these")
        }
    }

    private mutating func merge(_ isInterrupted: Bool, at now: ContinuousClock.Instant) -> [Action] {
        isCut = isCut || !waiting.isEmpty
        // If all files were left out, nothing was scanned.
        if totals.leftOut == plan.items.count { worst = max(worst, .usage) }
        let merges = plan.merges || (sections.count > 1 && plan.mergesImagesOfOne)
        // A catalogue of all images that holds only some of them would be mistaken for a complete one.
        guard merges, !sections.isEmpty, !isCut || rules.keepsPartial else {
            return sayWhatIsCut() + compare(isInterrupted, at: now)
        }
        state = .merging
        return [.merge(sections.sorted(), isPartial: isCut)]
    }

    private func sayWhatIsCut() -> [Action] { isCut && rules.isBatch ? [.sayStop(totals)] : [] }

    private mutating func compare(_ isInterrupted: Bool, at now: ContinuousClock.Instant) -> [Action] {
        guard !isInterrupted, !compared.isEmpty else { return close(isInterrupted, at: now) }
        state = .comparing
        return [.writeChanges(compared.sorted())]
    }

    private mutating func close(_ isInterrupted: Bool, at now: ContinuousClock.Instant) -> [Action] {
        var actions: [Action] = []
        if !isCut, !isInterrupted, totals.isMany, rules.detail > .errors {
            let duration = start.map { $0.duration(to: now) } ?? .zero
            // Where an image has more than one line of output, each file that is written has a line of its own.
            actions.append(.close(totals, duration, merged: rules.detail > .line ? [] : merged))
        }
        return actions + finish(isInterrupted ? .cancelled : worst)
    }

    private mutating func finish(_ status: ExitStatus) -> [Action] {
        state = .ended
        return [.finish(status)]
    }
}
