/// A table of distortions that a file keeps in an image of its own (FITS paper IV, draft of 2004, section 3.4).
///
/// wcslib knows distortions by polynomials only, so this module applies the tables itself.
package struct LookupTable: Hashable, Codable {
    /// Which table of a file it is, and what it corrects.
    package struct Name: Hashable, Codable {
        enum Stage: Hashable, Codable {
            /// `D2IMDIS`: from the detector's pixels to evenly spaced ones, before anything else.
            case detector
            /// `CPDIS`: in addition to SIP's polynomials.
            case image
        }

        var stage: Stage
        /// The coordinate that is corrected, 0 or 1.
        var axis: Int
        /// `EXTVER` of the table's HDU.
        package var version: Int

        /// `EXTNAME` of the table's HDU, by the convention of the Hubble Space Telescope, whose files are the ones that exist.
        var extensionName: String { stage == .detector ? "D2IMARR" : "WCSDVARR" }
    }

    /// An axis of the table: the places of its elements on the image.
    package struct Axis: Hashable, Codable {
        package var count: Int
        /// `CRPIX`, `CRVAL` and `CDELT` of the table's header.
        var element: Double
        var pixel: Double
        package var step: Double
    }

    package var name: Name
    package var x: Axis
    package var y: Axis
    /// The corrections in pixels, row by row.
    package var values: [Float]

    /// The largest number of elements. There is a limit because the table goes over the wire with the header. Hubble's tables
    /// have 2,000 to 4,000.
    static let elementLimit = 1 << 18

    /// Whether the table can be used; a peer may have sent it.
    package var isSound: Bool {
        let axes = [x, y]
        guard axes.allSatisfy({ (1...Self.elementLimit).contains($0.count) }), (0...1).contains(name.axis) else {
            return false
        }
        return x.count * y.count == values.count && values.count <= Self.elementLimit
            && axes.allSatisfy { $0.element.isFinite && $0.pixel.isFinite && $0.step.isFinite && $0.step != 0 }
            && values.allSatisfy { abs($0) < 1e6 }
    }

    /// The correction at a pixel counted from 1, interpolated between four elements; beyond the table it is that at the table's
    /// edge.
    package func correction(_ place: (x: Double, y: Double)) -> Double {
        guard let (left, across) = x.element(at: place.x), let (below, up) = y.element(at: place.y) else { return .nan }
        let (right, above) = (min(left + 1, x.count - 1), min(below + 1, y.count - 1))
        let lower = Double(self[left, below]) * (1 - across) + Double(self[right, below]) * across
        let upper = Double(self[left, above]) * (1 - across) + Double(self[right, above]) * across
        return lower * (1 - up) + upper * up
    }

    private subscript(column: Int, row: Int) -> Float { values[row * x.count + column] }
}

extension LookupTable.Axis {
    /// The element before a pixel, counted from 0, and the part of the way to the next; `nil` for NaN.
    fileprivate func element(at pixel: Double) -> (index: Int, part: Double)? {
        let place = (pixel - self.pixel) / step + element - 1
        guard !place.isNaN else { return nil }
        let inside = min(max(place, 0), Double(count - 1))
        let index = Int(inside)
        return (index, inside - Double(index))
    }
}

/// What a header says about lookup tables.
struct LookupCards {
    /// The tables that it needs.
    private(set) var names: [LookupTable.Name] = []
    /// The keywords of tables that are used in a way that is not supported here.
    private(set) var foreign: [String] = []
    /// The indices of the cards about them, which wcslib cannot read.
    private(set) var cards: [Int] = []

    /// - Parameter header: Cards of 80 characters each.
    init(_ header: UnsafeBufferPointer<CChar>) {
        var kinds: [String: String] = [:]
        var records: [String: [String: Double]] = [:]
        var places: [String: [Int]] = [:]
        for index in 0..<header.count / 80 {
            // Nearly all cards begin with another letter.
            let first = UInt8(bitPattern: header[index * 80])
            guard first == UInt8(ascii: "C") || first == UInt8(ascii: "D") || first == UInt8(ascii: "A") else {
                continue
            }
            let card = String(
                decoding: header[index * 80..<index * 80 + 80].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let keyword = String(card.prefix(8).prefix { $0 != " " })
            if keyword == "AXISCORR" { foreign.append(keyword) }
            guard Self.keywords.contains(keyword) else { continue }
            places[keyword, default: []].append(index)
            let quoted =
                card.dropFirst(8).split(separator: "'", omittingEmptySubsequences: false).dropFirst().first ?? ""
            let words = quoted.split { $0 == " " || $0 == ":" }.map { $0.uppercased() }
            if words.count == 2, let value = Double(words[1]) { records[keyword, default: [:]][words[0]] = value }
            if words.count == 1 { kinds[keyword] = words[0] }
        }
        for (kind, record, stage) in [("D2IMDIS", "D2IM", LookupTable.Name.Stage.detector), ("CPDIS", "DP", .image)] {
            for axis in 0...1 {
                let (kind, record) = ("\(kind)\(axis + 1)", "\(record)\(axis + 1)")
                guard let value = kinds[kind], value == "LOOKUP" || stage == .detector else { continue }
                let fields = records[record] ?? [:]
                cards += (places[kind] ?? []) + (places[record] ?? [])
                let version = Int(exactly: fields["EXTVER"] ?? 1) ?? 0
                // A table with exchanged axes is not supported; no file is known to have one.
                let isStraight = [1.0, 2].allSatisfy { (fields["AXIS.\(Int($0))"] ?? $0) == $0 }
                guard value == "LOOKUP", isStraight, (1...32_767).contains(version) else {
                    foreign.append(kind)
                    continue
                }
                names.append(LookupTable.Name(stage: stage, axis: axis, version: version))
            }
        }
    }

    /// The keywords and names of the tables, for messages.
    var words: String { (foreign + Set(names.map(\.extensionName)).sorted()).joined(separator: ", ") }

    private static let keywords: Set = ["CPDIS1", "CPDIS2", "DP1", "DP2", "D2IMDIS1", "D2IMDIS2", "D2IM1", "D2IM2"]
}
