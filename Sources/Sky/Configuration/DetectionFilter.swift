import Glibc

/// How the image is smoothed before pixels are compared with the threshold (`FILTER`, `FILTER_NAME`). Measurements are
/// made on the image as it is.
public enum DetectionFilter: Hashable, Codable, Sendable {
    /// No filter.
    case none
    /// SExtractor's `default.conv`: a 3x3 pyramid, the usual choice for undersampled to well sampled stars.
    case pyramid
    /// A Gaussian with this full width at half maximum, in pixels. It is the best filter for faint stars if it is as wide as
    /// the stars.
    case gaussian(fwhm: Double)
    /// A Gaussian as wide as the image's own stars, which are measured first.
    case seeing
    /// Weights that a user supplies, in the form of a `.conv` file of SExtractor's.
    case kernel(ConvolutionKernel)

    /// The filter in one word.
    public var name: String {
        switch self {
        case .none: "none"
        case .pyramid: "default"
        case .gaussian: "gauss"
        case .seeing: "seeing"
        case .kernel(let kernel): "\(kernel.width)x\(kernel.height)\(kernel.isNormed ? "" : " NONORM")"
        }
    }

    /// The full width at half maximum of a Gaussian, in pixels.
    public var fwhm: Double? { if case .gaussian(let fwhm) = self { fwhm } else { nil } }

    /// The widths that a filter may have, in pixels.
    public static let widths = 0.5...15
}

/// The weights of a filter.
struct DetectionKernel: Sendable {
    /// The weights row by row, as SEP receives them; SEP norms them. Empty for no filter.
    let values: [Float]
    /// The number of pixels in a row and in a column, odd.
    let (width, height): (Int, Int)
    /// The factor of the filtered image. It is not 1 if the weights should be used as they are.
    let scale: Float

    /// The reach of the filter around a pixel.
    var radius: Int { max(width, height) / 2 }

    /// - Parameter filter: `seeing` counts as `pyramid`, which is the filter of the search for stars.
    init(_ filter: DetectionFilter) {
        switch filter {
        case .none: (values, width, height, scale) = ([], 1, 1, 1)
        case .pyramid, .seeing: (values, width, height, scale) = ([1, 2, 1, 2, 4, 2, 1, 2, 1], 3, 3, 1)
        case .kernel(let kernel):
            (values, width, height) = (kernel.weights.values, kernel.width, kernel.height)
            scale = kernel.isNormed ? 1 : kernel.sum
        case .gaussian(let fwhm):
            let radius = max(1, Int(fwhm.rounded()))
            let columns = -radius...radius
            // The weight is exp(-4 ln 2 (r / fwhm)^2), a half at r = fwhm / 2.
            values = columns.flatMap { y in
                columns.map { x in Float(exp(-4 * log(2.0) * Double(x * x + y * y) / (fwhm * fwhm))) }
            }
            (width, height, scale) = (2 * radius + 1, 2 * radius + 1, 1)
        }
    }

    /// The weights as SEP norms them, in its order of operations, and scaled.
    var normed: [Float] {
        let sum = values.reduce(0) { $0 + abs($1) }
        return scale == 1 ? values.map { $0 / sum } : values.map { $0 / sum * scale }
    }

    /// The factor by which the filter changes the noise of independent pixels, at most 1 for normed weights.
    var noiseFactor: Double {
        values.isEmpty ? 1 : normed.reduce(0) { $0 + Double($1) * Double($1) }.squareRoot()
    }
}
