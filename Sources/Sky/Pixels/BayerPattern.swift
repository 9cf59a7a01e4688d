/// The order of the colours in front of a camera's pixels, by the first two pixels of the first two rows.
public enum BayerPattern: String, Hashable, Codable, Sendable, CaseIterable {
    case rggb = "RGGB"
    case bggr = "BGGR"
    case grbg = "GRBG"
    case gbrg = "GBRG"

    /// A colour of the filters. There are two greens, because a camera amplifies and reads them separately. So each value is a
    /// measured one, with its own noise and saturation, and a source in both is measured twice.
    public enum Colour: String, Hashable, Codable, Sendable, CaseIterable {
        case red = "R"
        /// Green in the rows that have red.
        case greenOfRed = "G1"
        /// Green in the rows that have blue.
        case greenOfBlue = "G2"
        case blue = "B"
    }

    /// The first pixel of a colour, from 0.
    package func place(of colour: Colour) -> (x: Int, y: Int) {
        // The place of red decides the others: blue lies diagonally opposite, and each green beside one of the two.
        let red: (x: Int, y: Int) =
            switch self {
            case .rggb: (0, 0)
            case .bggr: (1, 1)
            case .grbg: (1, 0)
            case .gbrg: (0, 1)
            }
        return switch colour {
        case .red: red
        case .greenOfRed: (1 - red.x, red.y)
        case .greenOfBlue: (red.x, 1 - red.y)
        case .blue: (1 - red.x, 1 - red.y)
        }
    }

    /// The pattern that begins `x` columns and `y` rows further on.
    func shifted(x: Int, y: Int) -> BayerPattern {
        let red = place(of: .red)
        let place = (x: abs(red.x - x % 2) % 2, y: abs(red.y - y % 2) % 2)
        return BayerPattern.allCases.first { $0.place(of: .red) == place } ?? self
    }
}
