import Base
import Glibc
import NIOPosix
import Sky
import SkyCore
import SkyJobs
import Transport

/// Links sources that move through all images of a command, and writes the changes in each image.
struct EpochFiles: Sendable {
    let comparer: EpochComparer
    let compared: [EpochComparer.Compared]

    /// Writes the files, and returns the exit status of the command.
    func write() async throws -> ExitStatus {
        guard let first = compared.first else { return .done }
        let times = [first.reference.time] + compared.map(\.time)
        let comparisons = compared.map(\.comparison)
        let series = try await NIOThreadPool.singleton.runIfActive { EpochSeries(comparisons, times: times) }
        var status = ExitStatus.done
        for (one, comparison) in zip(compared, series.comparisons) {
            guard !comparer.interrupts.wasInterrupted else { return .cancelled }
            status = max(status, one.status, comparison.depth?.isBlind == true ? .partlyFailed : .done)
            var table = ChangeTable(
                comparison, image: one.item.name, reference: one.reference.name,
                zeroPoint: one.zeroPoint, hasTimes: series.hasTimes)
            table.arithmetic = one.arithmetic
            let cutouts = try await comparer.cutouts(one, comparison.changes)
            let tracks = compared.count > 1 ? series.tracks : []
            do {
                try comparer.interrupts.whileWriting { () throws(SkyError) in
                    let page = ChangeReport(table, cutouts: cutouts, tracks: tracks).html
                    _ = try one.files.write(table.csv, as: .changeTable, of: one.item.stem)
                    _ = try one.files.write(page, as: .changePage, of: one.item.stem)
                    try one.files.place()
                }
            } catch {
                comparer.display.fail("\(PrintableText.of(error.message))")
                status = .usage
                continue
            }
            try print(one, table, tracks.count)
        }
        return status
    }

    private func print(_ compared: EpochComparer.Compared, _ table: ChangeTable, _ tracks: Int) throws {
        let counts = EpochChange.Kind.allCases.map { (kind: $0, count: table.count($0)) }
        if comparer.format == .json {
            comparer.display.output([try JSONLine.encode(Line(compared, table, tracks))])
            return
        }
        let files = ResultFile.changes.map { compared.item.stem + $0.ending } + [compared.differencePath]
        let isLast = compared.item.stem == self.compared.last?.item.stem
        let lines = ChangeLines(
            image: compared.item.name, reference: compared.reference.name,
            counts: counts.map { "\($0.count) \($0.kind.rawValue)" }, verdict: table.verdict,
            blindness: table.blindness, doubts: table.comparison.doubts, tracks: isLast ? tracks : 0,
            files: files.compactMap(\.self)
        ).lines(comparer.detail)
        comparer.display.output(lines.map { Console.outputStyle.label($0) })
    }

    /// The result of an image as JSON, for programs.
    private struct Line: Encodable {
        let event = "changes"
        let image: String
        let reference: String
        let appeared: Int
        let vanished: Int
        let faded: Int
        let changed: Int
        let moved: Int
        let tracks: Int
        /// How well the images fit. `cautions` has the reasons not to rely on the comparison.
        let usesSky: Bool
        let matched: Int
        let unmatched: Int
        let unmatchedReference: Int
        let scatter: Double
        let fluxRatio: Double
        let fluxScatter: Double
        let seeing: Seeing
        let referenceSeeing: Seeing
        let compared: Double
        /// The number of stars that were put into the image's copy and how many were found, of all stars and of the bright ones.
        /// `depth` is the magnitude at which half of them are found, and `depthSignalToNoise` is its signal to noise.
        let injected: Int?
        let injectedFound: Int?
        let bright: Int?
        let brightFound: Int?
        let depth: Double?
        let depthSignalToNoise: Double?
        let blind: Bool?
        let cautions: [String]
        /// The file with the difference itself.
        let difference: String?

        init(_ compared: EpochComparer.Compared, _ table: ChangeTable, _ tracks: Int) {
            (image, reference, self.tracks) = (compared.item.name, table.reference, tracks)
            difference = compared.differencePath
            (appeared, vanished, faded) = (table.count(.appeared), table.count(.vanished), table.count(.faded))
            (changed, moved) = (table.count(.changed), table.count(.moved))
            let fit = table.comparison
            (usesSky, scatter, self.compared, cautions) = (fit.usesSky, fit.scatter, fit.coverage, fit.doubts)
            (matched, unmatched) = (fit.agreement.matched, fit.agreement.unmatchedNew)
            unmatchedReference = fit.agreement.unmatchedOld
            (fluxRatio, fluxScatter) = (fit.ratio, fit.fluxFloor)
            (seeing, referenceSeeing) = (fit.newStars, fit.oldStars)
            (injected, injectedFound) = (fit.depth?.injected, fit.depth?.found)
            (bright, brightFound) = (fit.depth?.bright, fit.depth?.brightFound)
            depth = fit.depth?.flux.map { table.zeroPoint - 2.5 * log10($0) }
            (depthSignalToNoise, blind) = (fit.depth?.signalToNoise, fit.depth?.isBlind)
        }
    }
}
