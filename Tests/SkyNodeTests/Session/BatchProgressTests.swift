import Base
import Sky
import Testing

@testable import SkyCore
@testable import SkyJobs
@testable import SkyNode

/// What a batch of images does next, written as stories: an event, and the actions that follow.
struct BatchProgressTests {
    private let start = ContinuousClock.now

    /// What `progress` is to do, in words.
    private func words(_ actions: [BatchProgress.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .scanReference(let item): "scan reference \(item.name)"
            case .countSlots: "count slots"
            case .scan(let item, _): "scan \(item.name)"
            case .say(let line): "say \(line)"
            case .fail(let line): "fail \(line)"
            case .merge(let places, let isPartial): "merge \(places.map(place))\(isPartial ? " in part" : "")"
            case .sayStop(let totals): "tell what is done: \(totals.whole) whole, \(totals.partial) in part"
            case .writeChanges(let places): "write changes of \(places.map(place))"
            case .close(let totals, let duration, let merged):
                totals.line(duration, .standardOutput(.csv), merged: merged)
            case .finish(let status): "finish \(status)"
            case .abandon(let error): "abandon \(error)"
            }
        }
    }

    /// File and image in it.
    private func place(_ place: Int) -> String { "\(place >> BatchProgress.orderBits).\(place % 1024)" }

    /// A batch that gets events; each event returns the words for the actions that follow.
    private final class Story {
        var progress: BatchProgress
        /// The image that was begun last under each name, and where.
        var places: [String: Int] = [:]
        private let words: ([BatchProgress.Action]) -> [String]
        private let start: ContinuousClock.Instant

        init(
            _ progress: BatchProgress, start: ContinuousClock.Instant,
            _ words: @escaping ([BatchProgress.Action]) -> [String]
        ) {
            (self.progress, self.start, self.words) = (progress, start, words)
        }

        func handle(_ event: BatchProgress.Event, isInterrupted: Bool = false, seconds: Double = 0) -> [String] {
            let actions = progress.handle(event, isInterrupted: isInterrupted, at: start + .seconds(seconds))
            for case .scan(let item, let place) in actions { places[item.name] = place }
            return words(actions)
        }

        /// An image has come to its end.
        func end(
            _ name: String, _ status: SkyNode.ExitStatus = .done, isWritten: Bool = true, isInterrupted: Bool = false,
            seconds: Double = 0, _ change: (inout ImageOutcome) -> Void = { _ in }
        ) -> [String] {
            var outcome = ImageOutcome(status: status, place: places[name] ?? -1, name: name)
            (outcome.isWritten, outcome.sources) = (isWritten, isWritten ? 10 : 0)
            outcome.isWhole = isWritten && status != .cancelled
            change(&outcome)
            return handle(.imageEnded(outcome), isInterrupted: isInterrupted, seconds: seconds)
        }
    }

    private func story(
        _ line: String = "", images: [String], reference: String? = nil, refusals: Int = 0,
        format: OutputFormat = .text,
        detail: ScanDetail = .line, keepsPartial: Bool = false
    ) throws -> Story {
        let plan = try ScanFixture.plan(line, images: images, reference: reference, refusals: refusals)
        let rules = ScanFixture.rules(plan, format: format, detail: detail, keepsPartial: keepsPartial)
        return Story(BatchProgress(rules), start: start, words)
    }

    private let night = ["a", "b", "c", "d", "e", "f", "g"]

    // MARK: - Which image is scanned

    @Test func `a few images are begun at once, and the last one that ends closes the batch`() throws {
        let story = try story(images: ["a", "b"])
        #expect(story.handle(.begun) == ["scan a", "scan b"])
        #expect(story.end("b") { $0.hasSection = true } == [])
        #expect(story.end("a") { $0.hasSection = true } == ["merge [\"0.0\", \"1.0\"]"], "in the order given")
        #expect(story.progress.state == .merging)
        #expect(
            story.handle(.merged(.done, files: ["merged.csv"]), seconds: 3) == [
                "2 images: 20 sources in 3.00 s; all sources in merged.csv", "finish done",
            ])
        #expect(story.progress.state == .ended)
    }

    @Test(arguments: [(1, 4), (3, 4), (4, 6), (1000, 7)])
    func `as many images are under way as the slots can use`(slots: Int, width: Int) throws {
        let story = try story(images: night)
        #expect(story.handle(.begun) == ["count slots"])
        #expect(story.progress.state == .countingSlots)
        #expect(story.handle(.slotsCounted(slots)) == night.prefix(width).map { "scan \($0)" })
        for (place, name) in night.prefix(night.count - width).enumerated() {
            #expect(story.end(name) == ["scan \(night[width + place])"], "each that ends makes room for one")
        }
    }

    @Test func `no more than 64 images are under way, however many slots there are`() throws {
        let story = try story(images: (0..<100).map { "\($0)" })
        #expect(story.handle(.begun) == ["count slots"])
        #expect(story.handle(.slotsCounted(100_000)).count == 64)
    }

    @Test func `the further images of a file come next, and stay together in the merged catalogue`() throws {
        let story = try story(images: night)
        _ = (story.handle(.begun), story.handle(.slotsCounted(0)))
        let item = try #require(ScanFixture.plan(images: ["a"]).items.first)
        let others = [1, 2].map { item.of(hdu: $0, besides: []) }
        #expect(story.end("a") { ($0.others, $0.hasSection) = (others, true) } == ["scan a[1]"])
        #expect(story.end("b") { $0.hasSection = true } == ["scan a[2]"])
        #expect(story.end("c") == ["scan e"])
        for name in ["a[2]", "a[1]"] { _ = story.end(name) { $0.hasSection = true } }
        for name in ["d", "e", "f"] { #expect(story.end(name) == []) }
        #expect(story.end("g") == ["merge [\"0.0\", \"0.4\", \"0.8\", \"1.0\"]"])
    }

    @Test func `one file with several images has a merged catalogue unless --no-merge is given`() throws {
        for (line, words) in [("", "merge [\"0.0\", \"0.4\"]"), ("--no-merge", "2 images: 20 sources in 0.00 s")] {
            let story = try story(line, images: ["a"])
            #expect(story.handle(.begun) == ["scan a"])
            let item = try #require(ScanFixture.plan(images: ["a"]).items.first)
            #expect(
                story.end("a") { ($0.others, $0.hasSection) = ([item.of(hdu: 1, besides: [])], true) } == ["scan a[1]"])
            #expect(story.end("a[1]") { $0.hasSection = true }.first == words)
        }
    }

    // MARK: - Interrupts and losses

    @Test func `after an interrupt no image begins, and the last one under way ends the batch`() throws {
        let story = try story(images: night)
        _ = (story.handle(.begun), story.handle(.slotsCounted(0)))
        #expect(story.end("a") { $0.hasSection = true } == ["scan e"])
        for name in ["b", "c", "d"] {
            #expect(story.end(name, .cancelled, isWritten: false, isInterrupted: true) == [])
        }
        // A merged catalogue that lacks images could be mistaken for a complete one.
        #expect(
            story.end("e", .cancelled, isWritten: false, isInterrupted: true)
                == ["tell what is done: 1 whole, 0 in part", "finish cancelled"])
    }

    @Test func `with --keep-partial an interrupted batch has a catalogue marked as partial`() throws {
        let story = try story(images: ["a", "b"], keepsPartial: true)
        _ = story.handle(.begun)
        #expect(story.end("a") { $0.hasSection = true } == [])
        #expect(
            story.end("b", .cancelled, isInterrupted: true) { $0.hasSection = true }
                == ["merge [\"0.0\", \"1.0\"] in part"])
        #expect(
            story.handle(.merged(.done, files: ["merged.partial.csv"]), isInterrupted: true)
                == ["tell what is done: 1 whole, 1 in part", "finish cancelled"])
    }

    @Test func `an interrupt after the last image leaves the catalogue whole, and changes the status`() throws {
        let story = try story(images: ["a", "b"])
        _ = (story.handle(.begun), story.end("a") { $0.hasSection = true })
        #expect(
            story.end("b", isInterrupted: true) { ($0.hasSection, $0.isCompared) = (true, true) }
                == ["merge [\"0.0\", \"1.0\"]"])
        #expect(story.handle(.merged(.done, files: []), isInterrupted: true) == ["finish cancelled"])
    }

    @Test func `a batch of one image says nothing more when that is cancelled`() throws {
        let story = try story(images: ["a"])
        _ = story.handle(.begun)
        #expect(story.end("a", .cancelled, isWritten: false, isInterrupted: true) == ["finish cancelled"])
    }

    @Test func `a lost node ends the batch at once`() throws {
        let story = try story(images: night)
        _ = (story.handle(.begun), story.handle(.slotsCounted(0)))
        #expect(story.handle(.failed(CancellationError())) == ["abandon CancellationError()"])
        #expect(story.progress.state == .ended)
    }

    // MARK: - The reference

    @Test func `the reference is scanned first, and its failure ends the batch`() throws {
        let compared = try story("--reference r", images: ["a"], reference: "r")
        #expect(compared.handle(.begun) == ["scan reference r"])
        #expect(compared.progress.state == .scanningReference)
        #expect(compared.handle(.referenceScanned(ScanFixture.info())) == ["scan a"])
        for (isInterrupted, status) in [(false, "finish usage"), (true, "finish cancelled")] {
            let story = try story("--reference r", images: ["a"], reference: "r")
            _ = story.handle(.begun)
            #expect(story.handle(.referenceScanned(nil), isInterrupted: isInterrupted) == [status])
        }
    }

    @Test func `a warning about the reference is shown in the text format only`() throws {
        var info = ScanFixture.info()
        info.cube = ImageCube(planes: 5, isColourImage: false)
        for (format, count) in [(OutputFormat.text, 1), (.json, 0)] {
            let story = try story("--reference r", images: ["a"], reference: "r", format: format)
            _ = story.handle(.begun)
            let words = story.handle(.referenceScanned(info))
            #expect(words.count { $0.hasPrefix("say /d/r: a cube of 5 planes") } == count, "\(words)")
        }
    }

    @Test func `changes are written when all images are compared, in the order of the images`() throws {
        let story = try story("--reference r", images: ["a", "b", "c"], reference: "r")
        _ = (story.handle(.begun), story.handle(.referenceScanned(ScanFixture.info())))
        _ = (story.end("c") { $0.isCompared = true }, story.end("b", .partlyFailed))
        #expect(story.end("a") { $0.isCompared = true } == ["write changes of [\"0.0\", \"2.0\"]"])
        #expect(story.progress.state == .comparing)
        #expect(
            story.handle(.changesWritten(.usage), seconds: 2) == ["3 images: 30 sources in 2.00 s", "finish usage"])
    }

    @Test func `no image is compared after an interrupt`() throws {
        let story = try story("--reference r", images: ["a"], reference: "r")
        _ = (story.handle(.begun), story.handle(.referenceScanned(ScanFixture.info())))
        #expect(story.end("a", isInterrupted: true) { $0.isCompared = true } == ["finish cancelled"])
    }

    // MARK: - What the command ends with

    @Test func `the command has the worst status of its images`() throws {
        let story = try story("--no-merge", images: ["a", "b", "c"])
        _ = (story.handle(.begun), story.end("a", .partlyFailed), story.end("b", .usage, isWritten: false))
        #expect(story.end("c") == ["2 images: 20 sources in 0.00 s; 1 failed: b", "finish usage"])
    }

    @Test func `unreadable files are counted, and fail the command`() throws {
        let story = try story(images: ["a"], refusals: 2)
        _ = story.handle(.begun)
        #expect(story.end("a") == ["1 image: 10 sources in 0.00 s; 2 could not be read", "finish usage"])
    }

    @Test func `a batch without any picture of the sky fails`() throws {
        let story = try story(images: ["a", "b"])
        _ = (story.handle(.begun), story.end("a", isWritten: false) { $0.isLeftOut = true })
        #expect(
            story.end("b", isWritten: false) { $0.isLeftOut = true }
                == ["0 images: 0 sources in 0.00 s; 2 without a picture of the sky", "finish usage"])
        let other = try self.story("--no-merge", images: ["a", "b"])
        _ = (other.handle(.begun), other.end("a", isWritten: false) { $0.isLeftOut = true })
        #expect(other.end("b").last == "finish done", "masks lie among images")
    }

    @Test func `a merged catalogue that cannot be written fails the command`() throws {
        let story = try story(images: ["a", "b"])
        _ = (story.handle(.begun), story.end("a") { $0.hasSection = true }, story.end("b") { $0.hasSection = true })
        #expect(story.handle(.merged(.usage, files: [])).last == "finish usage")
    }

    @Test func `there is no closing line for one image, nor with --quiet`() throws {
        let one = try story(images: ["a"], detail: .summary)
        _ = one.handle(.begun)
        #expect(one.end("a") == ["finish done"])
        let quiet = try story("--no-merge", images: ["a", "b"], detail: .errors)
        _ = (quiet.handle(.begun), quiet.end("a"))
        #expect(quiet.end("b") == ["finish done"])
    }

    @Test func `the closing line does not repeat files that have their own lines`() throws {
        let story = try story(images: ["a", "b"], detail: .everything)
        _ = (story.handle(.begun), story.end("a") { $0.hasSection = true }, story.end("b") { $0.hasSection = true })
        #expect(story.handle(.merged(.done, files: ["merged.csv"])).first == "2 images: 20 sources in 0.00 s")
    }

    @Test func `the error for a damaged file names the images with a catalogue and those without`() throws {
        let story = try story("--no-merge", images: ["a"])
        _ = story.handle(.begun)
        let item = try #require(ScanFixture.plan(images: ["a"]).items.first)
        let others = (1...10).map { item.of(hdu: $0, besides: []) }
        _ = story.end("a") { $0.others = others }
        for number in 1...9 { _ = story.end("a[\(number)]", .usage, isWritten: false) }
        let words = story.end("a[10]")
        let bad = (1...8).map { "a[\($0)]" }.joined(separator: ", ")
        #expect(
            words.first
                == "fail /d/a: there are catalogues of a, a[10], none of \(bad) and 1 more; a catalogue of all together "
                + "lacks these")
        #expect(words.last == "finish usage")
    }
}
