import Foundation
import Testing

@testable import Sky

/// Measures comparisons on frames of known truth, which `make_sky.py --epochs 3` makes. For the figures in release mode:
///
///     EPOCH_FRAMES=/frames/f4k,/frames/other swift test -c release -Xswiftc -enable-testing --filter EpochMeasurement
@Suite(.serialized) struct EpochMeasurementTests {
    /// Paths without `_e0.fits` and so on, from the environment.
    private static let frames = (ProcessInfo.processInfo.environment["EPOCH_FRAMES"] ?? "")
        .split(separator: ",").map(String.init)

    @Test(
        .enabled(if: !frames.isEmpty, "name frames of make_sky.py by EPOCH_FRAMES, without _e0.fits"),
        arguments: frames)
    func `a comparison finds more than matching catalogues, with fewer false changes`(name: String) throws {
        let epochs = try (0..<3).map { try ScannedEpoch("\(name)_e\($0).fits", sector: 1024) }
        let truths = try (0..<3).map { try EpochTruth.read("\(name)_e\($0)_truth.csv") }
        let start = clock()
        let comparisons = try epochs[1...].map { try $0.compared(with: epochs[0]) }
        let series = EpochSeries(comparisons, times: [0, 1800, 3600])
        let seconds = Double(clock() - start) / Double(CLOCKS_PER_SEC)
        let score = EpochScore(series, truths: truths)
        let text = DecimalText.fixed(seconds / Double(comparisons.count), 2)
        print("\(name): \(text) s of processor time a comparison\n" + score.lines.joined(separator: "\n"))
        // The baseline of matching catalogues: 42 of 48 transients with 30 false in 16 Mpix, 35 tracks of 40 movers.
        for number in comparisons.indices {
            let transients = score.found(.transient, in: number)
            #expect(Double(transients.found) > 0.875 * Double(transients.all))
            let area = Double(epochs[0].catalogue.info.width * epochs[0].catalogue.info.height) / 16_777_216
            #expect(Double(score.falseRows(in: number).count) < max(30 * area, 3))
        }
        #expect(score.tracks.wrong == 0)
        #expect(Double(score.tracks.genuine) >= 0.875 * Double(truths[0].count { $0.kind == .mover }))
    }
}
