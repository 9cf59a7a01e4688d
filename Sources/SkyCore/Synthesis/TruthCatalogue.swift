import Glibc

/// The truth of a frame as a CSV file.
public enum TruthCatalogue {
    /// The columns, in the order in which they are written. Readers go by the names, so more columns do no harm.
    static let columns = ["kind", "x", "y", "ra", "dec", "mag", "flux", "snr", "re", "q", "pa", "n"]

    /// Largest file that is read: ten times the largest that `SkySynthesis` allows would be more than this.
    static let sizeLimit = 2 << 30
    /// Longest line that is read.
    static let lineLimit = 4096

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
        var bytes = Array(columns.joined(separator: ",").utf8)
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
        var lines = try contents(of: path).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
        let header = try fields(lines.popFirst() ?? [], path, 1)
        var places: [Substring: Int] = [:]
        for (index, name) in header.enumerated() where places[name] == nil { places[name] = index }
        for name in ["kind", "x", "y", "flux", "snr"] where places[name[...]] == nil {
            throw SkyError(.badInput, "\(path):1: no column '\(name)'; is it a truth file?")
        }
        var truth: [TruthSource] = []
        for (index, line) in lines.enumerated() where !line.isEmpty && line != [UInt8(ascii: "\r")] {
            let row = Row(
                fields: try fields(line, path, index + 2), places: places, columns: header.count,
                place: "\(path):\(index + 2)")
            truth.append(try row.source())
        }
        return truth
    }

    private static func fields(
        _ line: ArraySlice<UInt8>, _ path: String, _ number: Int
    ) throws(SkyError) -> [Substring] {
        guard line.count <= lineLimit else {
            throw SkyError(.badInput, "\(path):\(number): longer than \(lineLimit) bytes; is it a truth file?")
        }
        let text = String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
        return text.split(separator: ",", omittingEmptySubsequences: false)
    }

    private static func contents(of path: String) throws(SkyError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw SkyError(.badInput, "\(path): cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SkyError(.badInput, "\(path): not a file")
        }
        guard status.st_size <= sizeLimit else {
            throw SkyError(.badInput, "\(path): larger than \(sizeLimit >> 20) MiB; is it a truth file?")
        }
        // The size is a hint only: a file may grow or shrink while it is read.
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeMutableBytes { all in
                let rest = UnsafeMutableRawBufferPointer(rebasing: all[done...])
                return Glibc.read(descriptor, rest.baseAddress, rest.count)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else {
                throw SkyError(.unavailable, "\(path): cannot be read: \(String(cString: strerror(errno)))")
            }
            if count == 0 { break }
            done += count
        }
        bytes.removeLast(bytes.count - done)
        return bytes
    }

    /// One line of the file on its way to a `TruthSource`.
    private struct Row {
        let fields: [Substring]
        let places: [Substring: Int]
        let columns: Int
        let place: String

        func source() throws(SkyError) -> TruthSource {
            guard fields.count == columns else {
                throw SkyError(.badInput, "\(place): \(fields.count) fields, the header has \(columns)")
            }
            let name = places["kind"].map { fields[$0] } ?? ""
            guard let kind = TruthSource.Kind(rawValue: String(name)) else {
                throw SkyError(.badInput, "\(place): kind '\(name.prefix(20))' is not star, galaxy, transient or mover")
            }
            var source = TruthSource(
                kind: kind, x: try number("x"), y: try number("y"), alpha: try number("ra", or: 0),
                delta: try number("dec", or: 0), magnitude: try number("mag", or: 0), flux: try number("flux"),
                signalToNoise: try number("snr"))
            source.radius = try number("re", or: 0)
            source.axisRatio = try number("q", or: 1)
            source.angle = try number("pa", or: 0)
            source.sersicIndex = Int(try number("n", or: 0))
            return source
        }

        /// No quantity of a frame reaches this, and every whole number below it is exact in a Double.
        private static let limit = 1e15

        private func number(_ name: Substring, or missing: Double? = nil) throws(SkyError) -> Double {
            guard let index = places[name] else {
                if let missing { return missing }
                throw SkyError(.badInput, "\(place): no \(name)")
            }
            guard let value = Double(fields[index]), abs(value) <= Self.limit else {
                throw SkyError(.badInput, "\(place): \(name) is '\(fields[index].prefix(20))', not a number")
            }
            return value
        }
    }
}
