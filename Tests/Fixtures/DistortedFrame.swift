import Foundation

/// An image with SIP and four tables of distortions, of three by two elements.
package enum DistortedFrame {
    package static let frame = TestFrame(width: 30, height: 30, seed: 1)
    /// Pixels and where they are.
    package static let places = [
        (25.5, 4.25, 206.93559627362237, 53.628120231775654), (29.0, 29.0, 206.18201552610145, 56.150565801276464),
        (7.0, 12.0, 210.46889519434063, 54.25130566379331),
    ]

    package static var fits: [UInt8] {
        var cards = [
            "CTYPE1  = 'RA---TAN-SIP'", "CTYPE2  = 'DEC--TAN-SIP'", "CRPIX1  = 10.0", "CRPIX2  = 20.0",
            "CRVAL1  = 210.0",
            "CRVAL2  = 55.0", "CDELT1  = -0.1", "CDELT2  = 0.1", "A_ORDER = 2", "B_ORDER = 2", "A_2_0   = 0.002",
            "B_1_1   = 0.003",
        ]
        var tables: [UInt8] = []
        for (offset, names) in [["D2IMDIS", "D2IM", "D2IMARR"], ["CPDIS", "DP", "WCSDVARR"]].enumerated() {
            for axis in 1...2 {
                cards.append("\(names[0])\(axis)".padding(toLength: 8, withPad: " ", startingAt: 0) + "= 'Lookup'")
                for field in ["EXTVER: \(axis)", "NAXES: 2", "AXIS.1: 1", "AXIS.2: 2"] {
                    cards.append(
                        "\(names[1])\(axis)".padding(toLength: 8, withPad: " ", startingAt: 0) + "= '\(field)'")
                }
                tables += table(names[2], axis, offset)
            }
        }
        return frame.fits(cards: cards) + tables
    }

    private static func table(_ name: String, _ axis: Int, _ offset: Int) -> [UInt8] {
        var frame = TestFrame(width: 3, height: 2, seed: 1)
        for row in 0..<2 {
            for column in 0..<3 {
                frame.pixels[row * 3 + column] =
                    (Float(column * (axis + 1)) - Float(row) * 1.5 + Float(offset)) * 0.25
            }
        }
        let cards = [
            "BITPIX  = -32", "NAXIS   = 2", "NAXIS1  = 3", "NAXIS2  = 2", "PCOUNT  = 0", "GCOUNT  = 1",
            "EXTNAME = '\(name)'", "EXTVER  = \(axis)", "CRPIX1  = 1.0", "CRPIX2  = 1.0", "CRVAL1  = 2.0",
            "CRVAL2  = 3.0", "CDELT1  = 12.0", "CDELT2  = 16.0",
        ]
        return FITSBytes.header(cards, first: "XTENSION= 'IMAGE   '") + frame.fits().dropFirst(2880)
    }
}
