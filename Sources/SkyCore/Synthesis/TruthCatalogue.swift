import Glibc

/// The truth of a frame as a CSV file.
public enum TruthCatalogue {
    /// The columns, in the order in which they are written. Readers go by the names, so more columns do no harm.
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
    }

    /// The name of the truth of the frame at `path`: `night/a.fits` has `night/a_truth.csv`.
    public static func path(beside path: String) -> String {
        for ending in [".fits", ".fit", ".fts"] where path.lowercased().hasSuffix(ending) {
            return path.dropLast(ending.count) + "_truth.csv"
        }
        return path + "_truth.csv"
    }

    /// Writes `truth` to `path`, whole or not at all.
    ///
    /// - Throws: `SkyError` naming the file and the reason.
    public static func write(_ truth: [TruthSource], to path: String) throws(SkyError) {
        var bytes = Array(Column.allCases.map { $0.rawValue }.joined(separator: ",").utf8)
        bytes.reserveCapacity(truth.count * 96)
        let comma = UInt8(ascii: ",")
        for source in truth {
            bytes.append(UInt8(ascii: "\n"))
            bytes.append(contentsOf: source.kind.rawValue.utf8)
            for (value, decimals) in [
                (source.x, 4), (source.y, 4), (source.alpha, 8), (source.delta, 8), (source.magnitude, 4),
                (source.flux, 3), (source.signalToNoise, 3), (source.radius, 3), (source.axisRatio, 3),
                (source.angle, 2), (Double(source.sersicIndex), 0),
            ] {
                bytes.append(comma)
                DecimalText.appendFixed(value, decimals, to: &bytes)
            }
        }
        bytes.append(UInt8(ascii: "\n"))
        try AtomicFile.write(bytes, to: path)
    }

    /// Reads a truth file: ours, or any CSV with a header line and at least `kind,x,y,flux,snr`.
    ///
    /// - Throws: `SkyError` naming the file and the line.
    public static func read(_ path: String) throws(SkyError) -> [TruthSource] {
        try TruthReader(path).sources()
    }
}
