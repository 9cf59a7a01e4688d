import Foundation

@testable import Sky

/// What was painted into an epoch of frames by `make_sky.py`, as far as comparisons are concerned.
struct EpochTruth {
    enum Kind: String {
        case star, galaxy, transient, mover
    }

    var kind: Kind
    var id: Int
    /// Pixels counted from 1.
    var x: Double
    var y: Double
    /// Best signal to noise in this image alone.
    var signalToNoise: Double
    /// Change of a variable star in magnitudes.
    var change: Double

    /// Whether it makes a difference between the reference and this epoch.
    var differs: Bool { kind == .transient || kind == .mover || change != 0 }

    /// Reads `<name>_e<epoch>_truth.csv`; lines that are no source are left out.
    static func read(_ path: String) throws -> [EpochTruth] {
        try String(contentsOfFile: path, encoding: .utf8).split(whereSeparator: \.isNewline).compactMap { line in
            let fields = line.split(separator: ",", omittingEmptySubsequences: false)
            guard fields.count == 17, let kind = Kind(rawValue: String(fields[0])), let id = Int(fields[1]),
                let x = Double(fields[2]), let y = Double(fields[3]), let ratio = Double(fields[8]),
                let change = Double(fields[16])
            else { return nil }
            return EpochTruth(kind: kind, id: id, x: x, y: y, signalToNoise: ratio, change: change)
        }
    }
}

/// How well comparisons find what was painted. A row counts for a truth at most `radius` away, as in the baseline.
struct EpochScore {
    static let radius = 2.5
    /// Truths below this signal to noise are not asked for, but explain a row.
    static let signalToNoise = 10.0

    private let reference: [EpochTruth]
    private let epochs: [[EpochTruth]]
    private let series: EpochSeries

    /// - Parameter truths: of the reference, then of each comparison's image.
    init(_ series: EpochSeries, truths: [[EpochTruth]]) {
        self.series = series
        reference = truths[0]
        epochs = Array(truths[1...])
    }

    private static func isNear(_ truth: EpochTruth, _ x: Double, _ y: Double, _ radius: Double = radius) -> Bool {
        let (dx, dy) = (truth.x - x, truth.y - y)
        return dx * dx + dy * dy < radius * radius
    }

    /// Found and all of a kind in one comparison.
    func found(_ kind: EpochTruth.Kind, in number: Int) -> (found: Int, all: Int) {
        let wanted = epochs[number].filter { $0.kind == kind && $0.signalToNoise > Self.signalToNoise }
        let rows = series.comparisons[number].changes.filter { $0.significance > 0 }
        return (wanted.count { truth in rows.contains { Self.isNear(truth, $0.x, $0.y) } }, wanted.count)
    }

    /// Rows that nothing in the truth explains, in either image.
    func falseRows(in number: Int) -> [EpochChange] {
        let (now, before) = (epochs[number].filter(\.differs), reference.filter(\.differs))
        return series.comparisons[number].changes.filter { row in
            !now.contains { Self.isNear($0, row.x, row.y, 3) }
                && !before.contains { Self.isNear($0, row.xOld, row.yOld, 3) }
        }
    }

    /// Tracks all of whose rows are one mover's, and the others.
    var tracks: (genuine: Int, wrong: Int) {
        let movers = ([reference] + epochs).map { $0.filter { $0.kind == .mover } }
        var genuine = 0
        for track in series.tracks {
            var ids: Set<Int> = []
            for (number, comparison) in series.comparisons.enumerated() {
                for row in comparison.changes where row.track == track.number {
                    let now = movers[number + 1].first { Self.isNear($0, row.x, row.y) }
                    let before = movers[0].first { Self.isNear($0, row.xOld, row.yOld) }
                    ids.insert(now?.id ?? before?.id ?? -1)
                }
            }
            if ids.count == 1, !ids.contains(-1) { genuine += 1 }
        }
        return (genuine, series.tracks.count - genuine)
    }

    /// For people.
    var lines: [String] {
        var lines: [String] = []
        for (number, comparison) in series.comparisons.enumerated() {
            let (transients, movers) = (found(.transient, in: number), found(.mover, in: number))
            let kinds = Dictionary(grouping: comparison.changes, by: \.kind).mapValues(\.count)
                .sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.value) \($0.key.rawValue)" }
            lines.append(
                "epoch \(number + 1): transients \(transients.found)/\(transients.all), movers \(movers.found)/"
                    + "\(movers.all), false \(falseRows(in: number).count); \(kinds.joined(separator: ", "))")
        }
        let tracks = tracks
        let all = reference.count { $0.kind == .mover }
        return lines + ["tracks: \(tracks.genuine) true and \(tracks.wrong) false of \(all) movers"]
    }
}
