import Sky
import Testing

@testable import SkyNode

/// Options of a scan that contradict each other, each with its words.
struct ScanConflictsTests {
    private func conflicts(_ line: String) throws -> ScanConflicts {
        let options = try ScanFixture.options(line)
        return ScanConflicts(options: options, output: try options.output.place { _ in false })
    }

    private func complaint(_ check: () throws -> Void) -> String? {
        do {
            try check()
            return nil
        } catch let failure as CommandFailure where failure.status == .usage {
            return failure.message
        } catch {
            return "\(error)"
        }
    }

    @Test(
        arguments: [
            ("--truth t.csv", 2, "--truth goes with one image"), ("--truth t.csv", 1, nil),
            ("--reference r --detach", 1, "--reference compares when the scans are done; it does not go with --detach"),
            ("--coordinate-error 5", 1, "--coordinate-error goes with --reference"),
            (
                "--reference r --coordinate-error 0", 1,
                "--coordinate-error 0.0: it must be 0.001 to 36000 seconds of arc"
            ),
            ("--reference r --coordinate-error 36000", 1, nil),
            ("--inject-changes 5", 1, "--inject-changes goes with --reference"),
            (
                "--reference r --inject-changes -1", 1,
                "--inject-changes -1: the number of stars must be 0 to \(InjectedChange.countLimit)"
            ),
            ("--reference r --inject-changes 0", 1, nil), ("--difference", 1, "--difference goes with --reference"),
            ("--reference r --difference", 1, nil), ("--fail-sector 0", 1, "--fail-sector counts sectors from 1"),
            ("--fail-sector 1", 1, nil), ("", 5, nil),
        ] as [(String, Int, String?)])
    func `impossible numbers and options without their counterpart are refused`(
        line: String, images: Int, words: String?
    ) throws {
        // A number below zero looks like an option.
        let conflicts = try conflicts(line.replacing("-changes -1", with: "-changes=-1"))
        #expect(complaint { try conflicts.checkNumbers(images: images) } == words)
    }

    @Test(
        arguments: [
            ("", 1, false, nil),
            ("", 4, true, "--inject does not go with --bayer: its report is in a colour's own pixels"),
            ("-o all.csv --reference r", 1, false, "--reference writes files of its own: let --output name a folder"),
            ("-o all.csv", 1, true, "--inject writes files of its own: let --output name a folder"),
            (
                "--check-image rms", 4, false,
                "--check-image does not go with --bayer: a colour is every second pixel of the frame"
            ),
            ("-o - --check-image rms", 1, false, "--check-image writes files: let --output name a file or a folder"),
            ("-o all.csv --check-image rms", 1, false, nil),
            (
                "--check-image rms --detach", 1, false,
                "--check-image and --detach contradict each other: somebody must wait to write"
            ),
            (
                "--reference r", 4, false,
                "--reference compares one image with one: it does not go with --bayer, which makes four of each"
            ),
        ] as [(String, Int, Bool, String?)])
    func `options that need a folder or a whole image are refused without one`(
        line: String, layers: Int, injects: Bool, words: String?
    ) throws {
        let conflicts = try conflicts(line)
        #expect(complaint { try conflicts.checkLayers(layers, injects: injects) } == words)
    }

    @Test func `--inject and --detach contradict each other`() throws {
        let detached = try conflicts("--detach")
        #expect(
            complaint { try detached.checkWaiting(injects: true) }
                == "--inject and --detach contradict each other: somebody must wait to compare")
        #expect(complaint { try detached.checkWaiting(injects: false) } == nil)
        #expect(complaint { try conflicts("").checkWaiting(injects: true) } == nil)
    }

    @Test func `standard output takes one catalogue, and a terminal takes no FITS table`() throws {
        func complaint(_ line: String, isTerminal: Bool) throws -> String? {
            let conflicts = try conflicts(line)
            return self.complaint { try conflicts.checkStandardOutput(isTerminal: isTerminal) }
        }
        let both = "--output - and --format json contradict each other: both are for standard output"
        #expect(try complaint("-o - --format json", isTerminal: false) == both)
        #expect(try complaint("-o out/ --format json", isTerminal: true) == nil)
        for format in ["fits", "ldac"] {
            let line = "-o - --format-catalogue \(format)"
            #expect(try complaint(line, isTerminal: true)?.hasPrefix("a FITS table is nothing for a terminal") == true)
            #expect(try complaint(line, isTerminal: false) == nil)
        }
        #expect(try complaint("-o -", isTerminal: true) == nil)
    }
}
