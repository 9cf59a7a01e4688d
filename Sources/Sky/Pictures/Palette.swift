/// 256 colours for a grey picture with coloured marks on it. A pixel takes one byte instead of three, so the file is half as
/// large, and there is a third to be deflated; nobody sees the difference in a picture of the sky.
struct Palette {
    /// How many greys there are, black and white among them. The rest is for the marks.
    private static let greyCount = 144
    /// How much of a mark and of the grey under it is mixed, for each ink.
    private static let greysUnderMark = 8
    /// Bits of each of red, green and blue that tell one colour from another when the nearest one is looked up.
    private static let bits = 5

    /// Red, green and blue of each colour, as a PNG file has them (PLTE).
    let bytes: [UInt8]
    private let ofGrey: [UInt8]

    /// - Parameter inks: the colours of the marks, at least one and few.
    init(marks inks: [Raster.Ink]) {
        var bytes: [UInt8] = []
        for grey in 0..<Self.greyCount {
            bytes += [UInt8](repeating: Self.level(grey, of: Self.greyCount), count: 3)
        }
        let mixtures = (256 - Self.greyCount) / max(inks.count, 1) / Self.greysUnderMark
        for ink in inks {
            for grey in 0..<Self.greysUnderMark {
                let under = Float(Self.level(grey, of: Self.greysUnderMark))
                for step in 1...max(mixtures, 1) {
                    let share = Float(step) / Float(mixtures)
                    bytes += [ink.red, ink.green, ink.blue].map { UInt8(under + ($0 * 255 - under) * share + 0.5) }
                }
            }
        }
        self.bytes = bytes
        ofGrey = (0..<256).map { UInt8(($0 * (Self.greyCount - 1) + 127) / 255) }
    }

    private static func level(_ index: Int, of count: Int) -> UInt8 {
        UInt8((index * 255 + (count - 1) / 2) / (count - 1))
    }

    /// The rows of a picture as a PNG file of this palette has them: the number of a filter, which is 0 for none, and then an index
    /// for each pixel.
    func rows(of raster: Raster) -> [UInt8] {
        // The nearest colours that were looked up; -1 for the others.
        var nearest = [Int16](repeating: -1, count: 1 << (3 * Self.bits))
        return [UInt8](unsafeUninitializedCapacity: raster.height * (raster.width + 1)) { rows, count in
            raster.rows.withUnsafeBufferPointer { source in
                var place = 0
                for _ in 0..<raster.height {
                    rows.initializeElement(at: count, to: 0)
                    count += 1
                    place += 1
                    for _ in 0..<raster.width {
                        let (red, green, blue) = (source[place], source[place + 1], source[place + 2])
                        let index: UInt8
                        if red == green, green == blue {
                            index = ofGrey[Int(red)]
                        } else {
                            let shift = 8 - Self.bits
                            let key =
                                (Int(red) >> shift) << (2 * Self.bits) | (Int(green) >> shift) << Self.bits
                                | Int(blue) >> shift
                            if nearest[key] < 0 { nearest[key] = Int16(search(red, green, blue)) }
                            index = UInt8(truncatingIfNeeded: nearest[key])
                        }
                        rows.initializeElement(at: count, to: index)
                        count += 1
                        place += 3
                    }
                }
            }
        }
    }

    /// The index of the colour that differs least, by the sum of the squares.
    private func search(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> Int {
        func distance(_ index: Int) -> Int {
            let (r, g) = (Int(bytes[index * 3]) - Int(red), Int(bytes[index * 3 + 1]) - Int(green))
            let b = Int(bytes[index * 3 + 2]) - Int(blue)
            return r * r + g * g + b * b
        }
        return (0..<bytes.count / 3).min { distance($0) < distance($1) } ?? 0
    }
}
