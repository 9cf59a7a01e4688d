import Sky
import Testing

@testable import SkyCore
@testable import SkyJobs
@testable import SkyNode

/// What is done with one image after each of its steps, written as stories.
struct ImageProgressTests {
    private func words(_ actions: [ImageProgress.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .say(let line): "say \(line)"
            case .fail(let line): "fail \(line)"
            case .lookForOthers: "look for others"
            case .fetch: "fetch"
            case .prepare(let compares, let injects):
                "prepare" + (compares ? " comparison" : "") + (injects ? " stars" : "")
            case .fetchPicture: "fetch picture"
            case .write(let further): "write \(further.map(\.ending))"
            case .count(let sources, let wholly): "count \(sources) \(wholly ? "whole" : "part")"
            case .showSummary(let detail, _): "tell \(detail)"
            case .compare: "compare"
            case .test: "test"
            case .finish(let outcome):
                "finish \(outcome.status)" + (outcome.isWritten ? " with \(outcome.sources)" : "")
                    + (outcome.isLeftOut ? " left out" : "") + (outcome.hasSection ? " merged" : "")
                    + (outcome.isCompared ? " compared" : "")
                    + outcome.others.map { " and \($0.name)" }.joined()
            }
        }
    }

    /// An image that gets events; each event returns the words for the actions that follow.
    private final class Story {
        var progress: ImageProgress
        private let words: ([ImageProgress.Action]) -> [String]

        init(_ progress: ImageProgress, _ words: @escaping ([ImageProgress.Action]) -> [String]) {
            (self.progress, self.words) = (progress, words)
        }

        func handle(_ event: ImageProgress.Event, isInterrupted: Bool = false) -> [String] {
            words(progress.handle(event, isInterrupted: isInterrupted))
        }
    }

    private func story(
        _ line: String = "", images: [String] = ["/d/a.fits"], reference: String? = nil, injects: Bool = false,
        format: OutputFormat = .text, detail: ScanDetail = .summary, keepsPartial: Bool = false
    ) throws -> Story {
        let plan = try ScanFixture.plan(
            line, images: images, reference: reference, injection: injects ? InjectionDemand(count: 9) : nil)
        let rules = ScanFixture.rules(plan, format: format, detail: detail, keepsPartial: keepsPartial)
        return Story(ImageProgress(plan.items[0], place: 0, reference: reference, rules), words)
    }

    private func scanned(
        _ state: JobReport.State = .done, reason: String? = nil, failed: Int = 0, hasSectors: Bool = true
    )
        -> ImageProgress.Event
    {
        .scanned(ScanFixture.report(state, reason: reason, failed: failed), hasSectors: hasSectors)
    }

    // MARK: - A scan that is done

    @Test func `an image is scanned, fetched, drawn, written and reported`() throws {
        let story = try story()
        #expect(story.progress.state == .scanning && story.progress.subject == nil)
        #expect(story.handle(scanned()) == ["fetch"])
        #expect(story.handle(.fetched(ScanFixture.info(), sources: 7)) == ["fetch picture"])
        #expect(story.handle(.drawn) == ["write []"])
        #expect(story.handle(.written) == ["count 7 whole", "tell summary", "finish done with 7"])
        #expect(story.progress.state == .ended)
        #expect(story.handle(.written).isEmpty, "it has ended")
    }

    @Test func `an image of a batch is reported in a line, and kept for the merged catalogue`() throws {
        let story = try story(images: ["/d/a.fits", "/d/b.fits"], detail: .line)
        #expect(story.progress.subject == "/d/a.fits" && story.progress.detail == .line)
        _ = (story.handle(scanned()), story.handle(.fetched(ScanFixture.info(), sources: 7)), story.handle(.drawn))
        #expect(story.handle(.written) == ["count 7 whole", "tell line", "finish done with 7 merged"])
    }

    @Test func `no picture is drawn if the output is one catalogue`() throws {
        let story = try story("-o all.csv")
        _ = story.handle(scanned())
        #expect(story.handle(.fetched(ScanFixture.info(), sources: 7)) == ["write []"])
    }

    @Test func `failed tasks change the status`() throws {
        let story = try story()
        _ = (story.handle(scanned(failed: 2)), story.handle(.fetched(ScanFixture.info(), sources: 7)))
        _ = story.handle(.drawn)
        #expect(story.handle(.written).last == "finish partlyFailed with 7")
    }

    @Test func `results that cannot be written do not stop the other images`() throws {
        let story = try story(images: ["/d/a.fits", "/d/b.fits"])
        _ = (story.handle(scanned()), story.handle(.fetched(ScanFixture.info(), sources: 7)), story.handle(.drawn))
        #expect(story.handle(.notWritten("no room")) == ["fail no room", "finish usage merged"])
    }

    // MARK: - Files of several images

    @Test func `an image that is one of several in its file gets its own name, and the others follow`() throws {
        let story = try story()
        _ = story.handle(scanned())
        #expect(story.handle(.fetched(ScanFixture.info(hdu: 1, images: [1, 2, 4]), sources: 7)) == ["fetch picture"])
        #expect(story.progress.item.name == "/d/a.fits[1]" && story.progress.item.stem == "./a-hdu1")
        _ = story.handle(.drawn)
        #expect(
            story.handle(.written) == [
                "count 7 whole", "tell line", "finish done with 7 merged and /d/a.fits[2] and /d/a.fits[4]",
            ])
    }

    @Test func `a colour image has a catalogue of each plane`() throws {
        let story = try story(format: .json)
        _ = story.handle(scanned())
        var info = ScanFixture.info()
        info.cube = ImageCube(planes: 3, isColourImage: true)
        #expect(story.handle(.fetched(info, sources: 7)) == ["fetch picture"])
        #expect(story.progress.item.name == "/d/a.fits[plane 1]" && story.progress.item.stem == "./a-plane1")
        _ = story.handle(.drawn)
        #expect(
            story.handle(.written).last
                == "finish done with 7 merged and /d/a.fits[plane 2] and /d/a.fits[plane 3]")
    }

    @Test func `a named plane is scanned alone`() throws {
        let story = try story("--plane 2", format: .json)
        _ = story.handle(scanned())
        var info = ScanFixture.info()
        info.cube = ImageCube(planes: 3, isColourImage: true)
        _ = (story.handle(.fetched(info, sources: 7)), story.handle(.drawn))
        #expect(story.handle(.written).last == "finish done with 7")
    }

    @Test func `weights from hdu:N skip the other images of the file, with a message`() throws {
        var source = ScanFixture.source("/d/a.fits")
        var companions = Companions()
        companions.noise = Companions.Image(path: "/d/a.fits", hdu: 2)
        source.image.companions = companions
        let options = try ScanFixture.options()
        var plan = try ScanPlan(
            options, ScanPlan.Settings(configuration: ScanConfiguration(), output: .folder("out", [.csv])))
        try plan.add(source)
        let story = Story(
            ImageProgress(plan.items[0], place: 0, reference: nil, ScanFixture.rules(plan)), words)
        _ = story.handle(scanned())
        let words = story.handle(.fetched(ScanFixture.info(images: [0, 1, 2]), sources: 7))
        #expect(
            words == [
                "say /d/a.fits: its other images are not scanned, as hdu:N belongs to one; --hdu names another",
                "fetch picture",
            ])
        _ = story.handle(.drawn)
        #expect(story.handle(.written).last == "finish done with 7", "one image, under the file's name")
    }

    @Test func `impossible numbers of images are left out`() throws {
        let story = try story()
        _ = story.handle(scanned())
        _ = story.handle(.fetched(ScanFixture.info(images: [0, -1, 10_000, .max]), sources: 7))
        #expect(story.progress.item.name == "/d/a.fits")
    }

    @Test func `a damaged part of the file fails the scan, and is reported even with --quiet`() throws {
        let story = try story(detail: .errors)
        _ = story.handle(scanned())
        var info = ScanFixture.info()
        info.auxiliaries = ["HDU 2 (its header is damaged)", "HDU 3, a mask"]
        let words = story.handle(.fetched(info, sources: 7))
        #expect(words.count == 2 && words[0].hasPrefix("say /d/a.fits: HDU 2") && words[0].contains("copy the file"))
        _ = story.handle(.drawn)
        #expect(story.handle(.written) == ["count 7 whole", "tell errors", "finish usage with 7"])
    }

    // MARK: - A scan that failed

    @Test func `a failed scan has a reason, and the other images of its file are scanned`() throws {
        let story = try story()
        #expect(
            story.handle(scanned(.badInput, reason: "/d/a.fits: cut\u{1} off"))
                == ["fail /d/a.fits: cut? off", "look for others"])
        #expect(story.progress.state == .lookingForOthers)
        #expect(
            story.handle(.looked(ScanFixture.info(images: [0, 3]))) == ["finish usage and /d/a.fits[3]"])
        let other = try self.story()
        _ = other.handle(scanned(.failed, reason: "no node"))
        #expect(other.handle(.looked(nil)) == ["finish partlyFailed"], "its header could not be read")
    }

    @Test func `a cancelled image says what is kept of it`() throws {
        #expect(
            try story().handle(scanned(.cancelled), isInterrupted: true)
                == ["say skynode: /d/a.fits: cancelled; nothing was written", "finish cancelled"])
        let kept = try story(keepsPartial: true)
        #expect(
            kept.handle(scanned(.cancelled), isInterrupted: true)
                == ["say skynode: /d/a.fits: cancelled; what is done is kept", "fetch"])
        _ = (
            kept.handle(.fetched(ScanFixture.info(), sources: 3), isInterrupted: true),
            kept.handle(.drawn, isInterrupted: true)
        )
        #expect(
            kept.handle(.written, isInterrupted: true) == ["count 3 part", "tell summary", "finish cancelled with 3"])
        let none = try story(keepsPartial: true)
        #expect(
            none.handle(scanned(.cancelled, hasSectors: false), isInterrupted: true)
                == ["say skynode: /d/a.fits: cancelled; nothing was written", "finish cancelled"])
        let batch = try story(images: ["/d/a.fits", "/d/b.fits"])
        #expect(batch.handle(scanned(.cancelled), isInterrupted: true) == ["finish cancelled"], "the batch says it")
    }

    @Test func `with --keep-partial a failed scan is written in part`() throws {
        let story = try story(keepsPartial: true)
        #expect(story.handle(scanned(.failed, reason: "too many failures")) == ["fail too many failures", "fetch"])
        _ = (story.handle(.fetched(ScanFixture.info(), sources: 3)), story.handle(.drawn))
        #expect(story.handle(.written) == ["count 3 part", "tell summary", "finish partlyFailed with 3"])
    }

    @Test func `a file of masks only is left out, with a message unless it is one of many with --quiet`() throws {
        let reason = "/d/a.fits: no picture of the sky in it"
        for (images, detail, isSaid) in [
            (["/d/a.fits"], ScanDetail.errors, true), (["/d/a.fits", "/d/b.fits"], .errors, false),
            (["/d/a.fits", "/d/b.fits"], .line, true),
        ] {
            let words = try story(images: images, detail: detail).handle(scanned(.badInput, reason: reason))
            #expect(words == (isSaid ? ["say skynode: \(reason)"] : []) + ["finish done left out"])
        }
    }

    // MARK: - What follows the scan

    @Test func `an image is compared and tested with stars, and the page links to both`() throws {
        let story = try story("--reference r.fits", reference: "r.fits", injects: true)
        _ = story.handle(scanned())
        #expect(story.handle(.fetched(ScanFixture.info(), sources: 7)) == ["prepare comparison stars"])
        #expect(story.handle(.prepared(isComparable: true, hasStars: true)) == ["fetch picture"])
        #expect(
            story.handle(.drawn) == [#"write [".changes.html", ".injection.svg", ".injection.csv"]"#])
        #expect(story.handle(.written) == ["count 7 whole", "tell summary", "compare"])
        #expect(story.progress.state == .comparing)
        #expect(story.handle(.compared(isKnown: true)) == ["test"])
        #expect(story.handle(.tested(.partlyFailed)) == ["finish partlyFailed with 7 compared"])
    }

    @Test func `an image that cannot be compared fails before anything is written`() throws {
        let story = try story("--reference r.fits", reference: "r.fits")
        _ = (story.handle(scanned()), story.handle(.fetched(ScanFixture.info(), sources: 7)))
        #expect(
            story.handle(.cannotBePrepared("too few stars"))
                == ["fail /d/a.fits: too few stars; nothing of it was written", "finish usage"])
    }

    @Test func `a failed comparison keeps the catalogue`() throws {
        func compared() throws -> Story {
            let story = try story("--reference r.fits", reference: "r.fits")
            _ = (story.handle(scanned()), story.handle(.fetched(ScanFixture.info(), sources: 7)))
            _ = (story.handle(.prepared(isComparable: true, hasStars: false)), story.handle(.drawn))
            _ = story.handle(.written)
            return story
        }
        #expect(try compared().handle(.compared(isKnown: false)) == ["finish partlyFailed with 7"])
        #expect(
            try compared().handle(.cannotBeCompared("no overlap"))
                == ["fail /d/a.fits cannot be compared with r.fits: no overlap", "finish usage with 7"])
    }

    @Test func `after an interrupt no comparison or test begins`() throws {
        let early = try story("--reference r.fits", reference: "r.fits", injects: true)
        _ = early.handle(scanned())
        #expect(early.handle(.fetched(ScanFixture.info(), sources: 7), isInterrupted: true) == ["fetch picture"])
        #expect(
            early.handle(.drawn, isInterrupted: true) == ["write []"], "the page leads to no file that is not there")
        let late = try story("--reference r.fits", reference: "r.fits", injects: true)
        _ = (late.handle(scanned()), late.handle(.fetched(ScanFixture.info(), sources: 7)))
        _ = (late.handle(.prepared(isComparable: true, hasStars: true)), late.handle(.drawn))
        #expect(
            late.handle(.written, isInterrupted: true) == ["count 7 whole", "tell summary", "finish done with 7"])
        let last = try story("--reference r.fits", reference: "r.fits", injects: true)
        _ = (last.handle(scanned()), last.handle(.fetched(ScanFixture.info(), sources: 7)))
        _ = (last.handle(.prepared(isComparable: true, hasStars: true)), last.handle(.drawn), last.handle(.written))
        #expect(last.handle(.compared(isKnown: true), isInterrupted: true) == ["finish done with 7 compared"])
    }
}
