import Base

/// The weights of a detection filter that a user supplies, from a `.conv` file of SExtractor's.
///
/// Every value of this type is valid, also one that was decoded.
public struct ConvolutionKernel: Hashable, Sendable {
    /// Pixels in a row, odd.
    public let width: Int
    /// Pixels in a column, odd.
    public let height: Int
    /// The weights, row by row.
    public let weights: PackedFloats
    /// Whether the weights are divided by the sum of their magnitudes (`CONV NORM`); otherwise they are used as they are.
    public let isNormed: Bool

    /// The largest number of pixels of a side.
    public static let largestSide = 31
    /// Larger weights, or a smaller sum of magnitudes, would leave no digits of the pixels.
    private static let largestWeight: Float = 1e6
    private static let sums: ClosedRange<Float> = 1e-6...1e6

    /// - Throws: `.badInput` if the sides are even or too long, or if the weights are not usable numbers.
    public init(width: Int, height: Int, weights: [Float], isNormed: Bool = true) throws(SkyError) {
        let sides = 1...Self.largestSide
        guard sides.contains(width), sides.contains(height), width % 2 == 1, height % 2 == 1 else {
            throw SkyError(
                .badInput, "\(width) x \(height) weights: the sides of a filter are odd, from 1 to \(Self.largestSide)")
        }
        guard weights.count == width * height else {
            throw SkyError(.badInput, "\(weights.count) weights are not \(width) x \(height)")
        }
        guard weights.allSatisfy({ abs($0) <= Self.largestWeight }) else {
            throw SkyError(.badInput, "weights of a filter are numbers of at most a million")
        }
        let sum = weights.reduce(0) { $0 + abs($1) }
        guard Self.sums.contains(sum) else {
            throw SkyError(.badInput, "the weights add up to nothing, or to more than a million")
        }
        (self.width, self.height, self.isNormed) = (width, height, isNormed)
        self.weights = PackedFloats(weights)
    }

    /// Sum of the weights' magnitudes.
    package var sum: Float { weights.values.reduce(0) { $0 + abs($1) } }
}

extension ConvolutionKernel: Codable {
    private enum CodingKeys: String, CodingKey {
        case width, height, weights, isNormed
    }

    /// Refuses values that are not a filter.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let weights = try container.decode(PackedFloats.self, forKey: .weights)
        do {
            try self.init(
                width: try container.decode(Int.self, forKey: .width),
                height: try container.decode(Int.self, forKey: .height), weights: weights.values,
                isNormed: try container.decode(Bool.self, forKey: .isNormed))
        } catch let error as SkyError {
            throw DecodingError.dataCorruptedError(
                forKey: .weights, in: container, debugDescription: error.message)
        }
    }

    /// Encodes the whole filter.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(width, forKey: .width)
        try container.encode(height, forKey: .height)
        try container.encode(weights, forKey: .weights)
        try container.encode(isNormed, forKey: .isNormed)
    }
}
