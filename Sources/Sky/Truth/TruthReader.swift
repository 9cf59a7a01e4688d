import Base
import Glibc

/// Reads a truth file line by line. The file may be any file that a user named by mistake, so every line is checked, and memory
/// is bounded by the size of the file.
struct TruthReader {
    private let path: String
    private let bytes: [UInt8]

    /// The largest file that is read. The truth of the largest frame that `SkySynthesis` allows has this size.
    static let sizeLimit = 1 << 30
    /// The longest line that is read.
    static let lineLimit = 4096
    /// No quantity of a frame reaches this, and every whole number below it is exact in a Double.
    private static let valueLimit = 1e15
    private static let required: [TruthCatalogue.Column] = [.kind, .x, .y, .flux, .signalToNoise]

    init(_ path: String) throws(SkyError) {
        self.path = path
        bytes = try Self.contents(of: path)
    }

    func sources() throws(SkyError) -> [TruthSource] {
        var start = 0
        var number = 0
        var layout: Layout?
        var truth: [TruthSource] = []
        while start < bytes.count || number == 0 {
            number += 1
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            var line = bytes[start..<end]
            start = end + 1
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            guard line.count <= Self.lineLimit else {
                throw error(number, "longer than \(Self.lineLimit) bytes; is it a truth file?")
            }
            guard let known = layout else {
                layout = try self.layout(of: line)
                continue
            }
            guard !line.isEmpty else { continue }
            truth.append(try source(line, known, number))
        }
        return truth
    }

    /// The places of the columns in a line.
    private struct Layout {
        var places: [TruthCatalogue.Column: Int] = [:]
        var count: Int
    }

    private func layout(of line: ArraySlice<UInt8>) throws(SkyError) -> Layout {
        let names = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        var layout = Layout(count: names.count)
        for (index, name) in names.enumerated() {
            guard let column = TruthCatalogue.Column(rawValue: String(decoding: name, as: UTF8.self)) else { continue }
            if layout.places[column] == nil { layout.places[column] = index }
        }
        for column in Self.required where layout.places[column] == nil {
            throw error(1, "no column '\(column.rawValue)'; is it a truth file?")
        }
        return layout
    }

    private func source(_ line: ArraySlice<UInt8>, _ layout: Layout, _ number: Int) throws(SkyError) -> TruthSource {
        let fields = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
        guard fields.count == layout.count else {
            throw error(number, "\(fields.count) fields, the header has \(layout.count)")
        }
        /// The text of a column; empty if the file has no such column.
        func text(_ column: TruthCatalogue.Column) -> String {
            layout.places[column].map { String(decoding: fields[$0], as: UTF8.self) } ?? ""
        }
        func value(_ column: TruthCatalogue.Column, or missing: Double = 0) throws(SkyError) -> Double {
            guard layout.places[column] != nil else { return missing }
            let text = text(column)
            guard let value = Double(text), abs(value) <= Self.valueLimit else {
                throw error(number, "\(column.rawValue) is '\(text.prefix(20))', not a number")
            }
            return value
        }
        /// The number of another row. Other programs may write or mean something else there; such a text counts as no link.
        func link(_ column: TruthCatalogue.Column) -> Int { max(Int(text(column)) ?? 0, 0) }
        guard let kind = TruthSource.Kind(rawValue: text(.kind)) else {
            throw error(
                number, "kind '\(text(.kind).prefix(20))' is not star, galaxy, transient, mover, cosmic or trail")
        }
        var source = TruthSource(
            kind: kind, x: try value(.x), y: try value(.y), alpha: try value(.rightAscension),
            delta: try value(.declination), magnitude: try value(.magnitude), flux: try value(.flux),
            signalToNoise: try value(.signalToNoise))
        source.radius = try value(.radius)
        source.axisRatio = try value(.axisRatio, or: 1)
        source.angle = try value(.angle)
        source.sersicIndex = Int(try value(.sersicIndex))
        source.id = link(.id)
        source.rate = try value(.rate)
        source.heading = try value(.heading)
        source.host = link(.host)
        source.magnitudeChange = try value(.magnitudeChange)
        source.length = try value(.length)
        return source
    }

    private func error(_ line: Int, _ message: String) -> SkyError {
        SkyError(.badInput, "\(path):\(line): \(message)")
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
        // The size is only a hint: a file may grow or shrink while it is read.
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
}
