import Base

/// The truth of a frame as a CSV file.
public enum TruthCatalogue {
    /// The columns, in the order in which they are written. Readers go by the names, so further columns do no harm.
    enum Column: String, CaseIterable {
        case kind, x, y
        case rightAscension = "ra"
        case declination = "dec"
        case magnitude = "mag"
        case flux
        case signalToNoise = "snr"
        case radius = "re"
        case axisRatio = "q"
        case angle = "pa"
        case sersicIndex = "n"
        case id
        case rate = "rate_arcsec_h"
        case heading
        case host
        case magnitudeChange = "dmag"
        case length

        /// The columns of a frame that has only stars and galaxies and no other epochs.
        static let still = Array(allCases.prefix { $0 != .id })
    }

    /// The name of the truth file of the frame at `path`: for `night/a.fits` it is `night/a_truth.csv`.
    public static func path(beside path: String) -> String { FrameName(path).truth }

    /// Writes `truth` to `path`, completely or not at all. The columns from `id` on are left out if they would be empty.
    ///
    /// - Parameter overwriting: Whether it takes the place of any file, and not only of an earlier truth.
    /// - Throws: `SkyError` naming the file and the reason.
    public static func write(
        _ truth: [TruthSource], to path: String, overwriting: Bool = false
    ) throws(SkyError) {
        try AtomicFile.write(bytes(truth), to: path, as: .truth, overwrites: overwriting)
    }

    /// The file of `truth`.
    static func bytes(_ truth: [TruthSource]) -> [UInt8] {
        let isStill = truth.allSatisfy { $0.id == 0 && ($0.kind == .star || $0.kind == .galaxy) }
        let columns = isStill ? Column.still : Column.allCases
        var bytes = Array(columns.map { $0.rawValue }.joined(separator: ",").utf8)
        bytes.reserveCapacity(truth.count * 8 * columns.count)
        for source in truth {
            bytes.append(UInt8(ascii: "\n"))
            bytes.append(contentsOf: source.kind.rawValue.utf8)
            for column in columns.dropFirst() {
                bytes.append(UInt8(ascii: ","))
                let (value, decimals) = number(column, of: source)
                DecimalText.appendFixed(value, decimals, to: &bytes)
            }
        }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// The value of a column, and the number of decimals that are written. The kind is not a number.
    private static func number(_ column: Column, of source: TruthSource) -> (value: Double, decimals: Int) {
        switch column {
        case .kind: (.nan, 0)
        case .x: (source.x, 4)
        case .y: (source.y, 4)
        case .rightAscension: (source.alpha, 8)
        case .declination: (source.delta, 8)
        case .magnitude: (source.magnitude, 4)
        case .flux: (source.flux, 3)
        case .signalToNoise: (source.signalToNoise, 3)
        case .radius: (source.radius, 3)
        case .axisRatio: (source.axisRatio, 3)
        case .angle: (source.angle, 2)
        case .sersicIndex: (Double(source.sersicIndex), 0)
        case .id: (Double(source.id), 0)
        case .rate: (source.rate, 4)
        case .heading: (source.heading, 3)
        case .host: (Double(source.host), 0)
        case .magnitudeChange: (source.magnitudeChange, 4)
        case .length: (source.length, 3)
        }
    }

    /// Reads a truth file: one of this program, or any CSV with a header line and at least `kind,x,y,flux,snr`.
    ///
    /// - Throws: `SkyError` naming the file and the line.
    public static func read(_ path: String) throws(SkyError) -> [TruthSource] {
        try TruthReader(path).sources()
    }
}

extension OutputKind {
    /// The truth of a synthetic frame.
    package static let truth = OutputKind(
        "truth file", beginsWith: TruthCatalogue.Column.still.map(\.rawValue).joined(separator: ","))
}
