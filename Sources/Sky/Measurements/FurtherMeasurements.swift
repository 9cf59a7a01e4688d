/// What was measured of a source because a column asked for it. A value that was not measured, or could not be, is 0.
public struct FurtherMeasurements: Hashable, Codable, Sendable {
    /// The numbers are on the heap, because most catalogues have none of them and sources are copied often.
    private var numbers: [Double]

    /// The count is odd, so that the length of a row of numbers tells whether it ends with these: apertures come in pairs.
    package static let count = 7

    init() { numbers = [Double](repeating: 0, count: Self.count) }

    /// - Parameter numbers: The initializer returns `nil` if there are more or fewer than ``count``.
    init?(_ numbers: some Collection<Double>) {
        guard numbers.count == Self.count else { return nil }
        self.numbers = Array(numbers)
    }

    /// 1-sigma error of the isophotal flux (`FLUXERR_ISO`).
    public var fluxErrorIsophotal: Double {
        get { numbers[0] }
        set { numbers[0] = newValue }
    }
    /// Variances of the barycentre along x and y and their covariance, in square pixels (`ERRX2_IMAGE`, `ERRY2_IMAGE`,
    /// `ERRXY_IMAGE`).
    public var positionVariance: (xx: Double, yy: Double, xy: Double) {
        get { (numbers[1], numbers[2], numbers[3]) }
        set { (numbers[1], numbers[2], numbers[3]) = newValue }
    }
    /// The area of a pixel at the source in square arcseconds; 1 in an image without coordinates, 0 if the source has none.
    public var pixelArea: Double {
        get { numbers[4] }
        set { numbers[4] = newValue }
    }
    /// How much wider than the image's stars the source is (`SPREAD_MODEL`), with its 1-sigma error; 0 if there is none.
    public var spread: (value: Double, error: Double) {
        get { (numbers[5], numbers[6]) }
        set { (numbers[5], numbers[6]) = newValue }
    }

    package func append(to row: inout [Double]) { row += numbers }

    /// Refuses any other count of numbers, because the accessors rely on it.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let decoded = FurtherMeasurements(try container.decode([Double].self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "further measurements of another count than \(Self.count)")
        }
        self = decoded
    }

    /// Encodes the numbers alone.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(numbers)
    }
}
