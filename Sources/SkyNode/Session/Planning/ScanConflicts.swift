import Sky
import SkyCore
import SkyJobs

/// Finds options of `skynode scan` that contradict each other. It looks at the options only, and at no file.
///
/// Files that options name are read between the checks. So faults are always reported in the same order, of whatever kind they are.
struct ScanConflicts {
    let options: ScanOptions
    let output: OutputPlace

    private var comparison: ComparisonOptions { options.comparison }
    private var isCompared: Bool { comparison.reference != nil }

    /// - Parameter isTerminal: whether standard output is a terminal.
    /// - Throws: `CommandFailure` where something else than one catalogue would go to standard output.
    func checkStandardOutput(isTerminal: Bool) throws {
        guard output.isStandardOutput else { return }
        if options.cluster.format == .json {
            throw CommandFailure(
                .usage, "--output - and --format json contradict each other: both are for standard output")
        }
        if [.fits, .ldac].contains(output.formats.first), isTerminal {
            throw CommandFailure(.usage, "a FITS table is nothing for a terminal; let standard output go to a file")
        }
    }

    /// Checks options that go only with one image or only with a reference, and numbers that are out of range.
    func checkNumbers(images: Int) throws {
        if options.files.truth != nil, images > 1 {
            throw CommandFailure(.usage, "--truth goes with one image")
        }
        if isCompared, options.job.detach {
            throw CommandFailure(.usage, "--reference compares when the scans are done; it does not go with --detach")
        }
        if let error = comparison.coordinateError {
            guard isCompared else { throw CommandFailure(.usage, "--coordinate-error goes with --reference") }
            guard (0.001...36_000).contains(error) else {
                throw CommandFailure(.usage, "--coordinate-error \(error): it must be 0.001 to 36000 seconds of arc")
            }
        }
        if let count = comparison.injectChanges {
            guard isCompared else { throw CommandFailure(.usage, "--inject-changes goes with --reference") }
            guard (0...InjectedChange.countLimit).contains(count) else {
                throw CommandFailure(
                    .usage, "--inject-changes \(count): the number of stars must be 0 to \(InjectedChange.countLimit)")
            }
        }
        if comparison.difference, !isCompared {
            throw CommandFailure(.usage, "--difference goes with --reference")
        }
        if let sector = options.job.failSector, sector < 1 {
            throw CommandFailure(.usage, "--fail-sector counts sectors from 1")
        }
    }

    /// Checks options for which the command must wait.
    func checkWaiting(injects: Bool) throws {
        if injects, options.job.detach {
            throw CommandFailure(.usage, "--inject and --detach contradict each other: somebody must wait to compare")
        }
    }

    /// Checks options that do not go with the colours of a colour camera, and those that need a folder.
    ///
    /// - Parameter layers: how many parts of each image are scanned: one for the image itself, or one for each of its colours.
    func checkLayers(_ layers: Int, injects: Bool) throws {
        if injects, layers > 1 {
            throw CommandFailure(.usage, "--inject does not go with --bayer: its report is in a colour's own pixels")
        }
        if isCompared, output.isFile {
            throw CommandFailure(.usage, "--reference writes files of its own: let --output name a folder")
        }
        if injects, output.isFile {
            throw CommandFailure(.usage, "--inject writes files of its own: let --output name a folder")
        }
        if options.output.checkImages != nil { try checkCheckImages(layers) }
        if isCompared, layers > 1 {
            throw CommandFailure(
                .usage, "--reference compares one image with one: it does not go with --bayer, which makes four of each"
            )
        }
    }

    private func checkCheckImages(_ layers: Int) throws {
        guard layers == 1 else {
            throw CommandFailure(
                .usage, "--check-image does not go with --bayer: a colour is every second pixel of the frame")
        }
        guard !output.isStandardOutput else {
            throw CommandFailure(.usage, "--check-image writes files: let --output name a file or a folder")
        }
        guard !options.job.detach else {
            throw CommandFailure(
                .usage, "--check-image and --detach contradict each other: somebody must wait to write")
        }
    }
}
