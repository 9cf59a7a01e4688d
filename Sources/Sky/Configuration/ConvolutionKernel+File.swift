import Base

extension ConvolutionKernel {
    /// The largest number of bytes of a file: 31 x 31 weights with thirty characters each.
    public static let fileLimit = 64 << 10

    /// The weights of a `.conv` file of SExtractor's: `CONV NORM` or `CONV NONORM`, then a line for each row, with comments
    /// behind `#`.
    ///
    /// - Throws: `.badInput` with the line that is wrong.
    public init(file bytes: [UInt8]) throws(SkyError) {
        guard bytes.count <= Self.fileLimit else { throw SkyError(.badInput, "too long for a filter") }
        var isNormed: Bool?
        var rows: [[Float]] = []
        for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            let words = line.prefix { $0 != UInt8(ascii: "#") }.split { $0 <= 0x20 }
            if words.isEmpty { continue }
            func wrong(_ what: String) -> SkyError { SkyError(.badInput, "line \(index + 1): \(what)") }
            guard isNormed != nil else {
                let text = words.map { String(decoding: $0, as: UTF8.self) }
                guard text == ["CONV", "NORM"] || text == ["CONV", "NONORM"] else {
                    throw wrong("not a filter, which begins with CONV NORM or CONV NONORM")
                }
                isNormed = text == ["CONV", "NORM"]
                continue
            }
            var row: [Float] = []
            for word in words {
                guard row.count < Self.largestSide else { throw wrong("more than \(Self.largestSide) weights") }
                guard let weight = Float(String(decoding: word, as: UTF8.self)), weight.isFinite else {
                    throw wrong("\(FITSSniff.quoted(String(decoding: word.prefix(40), as: UTF8.self))) is no number")
                }
                row.append(weight)
            }
            guard row.count == rows.first?.count ?? row.count else {
                throw wrong("\(row.count) weights, where the first row has \(rows[0].count)")
            }
            guard rows.count < Self.largestSide else { throw wrong("more than \(Self.largestSide) rows") }
            rows.append(row)
        }
        guard let isNormed else { throw SkyError(.badInput, "an empty file is no filter") }
        try self.init(
            width: rows.first?.count ?? 0, height: rows.count, weights: Array(rows.joined()), isNormed: isNormed)
    }
}
