import Glibc

/// How wide a source's core is: the Gaussian that fits the logarithms of its brighter pixels best, over the squared
/// distance from the centroid (SExtractor's `FWHM_IMAGE`).
enum GaussianWidth {
    /// Pixels fainter than this part of the peak are wings, which are no Gaussian's.
    private static let coreShare = 0.2
    /// sigma^2 at most this many times the product of the axes.
    private static let largest = 6.5

    /// - Parameters:
    ///   - footprint: the source's pixels.
    ///   - pixels: the unfiltered image that they index, `width` wide.
    ///   - saturation: the level above the background from which pixels say nothing; infinite for none.
    /// - Returns: the full width at half maximum in pixels; 0 where there are too few pixels for one.
    static func fwhm(
        of object: Detection, footprint: ArraySlice<Int32>, pixels: UnsafePointer<Float>, width: Int,
        saturation: Double
    ) -> Double {
        let floor = max(Double(object.peak) * coreShare, Double(object.threshold))
        guard floor > 0, object.a > 0, object.b > 0 else { return 0 }
        // ln p = c - b d, d the squared distance; weights p^2, as the error of ln p is that of p divided by p.
        var (sum, sumD, sumDD, sumL, sumLD) = (0.0, 0.0, 0.0, 0.0, 0.0)
        for pixel in footprint {
            let value = Double(pixels[Int(pixel)])
            guard value > floor, value < saturation else { continue }
            let dx = Double(Int(pixel) % width) - object.x
            let dy = Double(Int(pixel) / width) - object.y
            let (distance, logarithm, weight) = (dx * dx + dy * dy, log(value), value * value)
            sum += weight
            sumD += weight * distance
            sumDD += weight * distance * distance
            sumL += weight * logarithm
            sumLD += weight * distance * logarithm
        }
        let determinant = sum * sumDD - sumD * sumD
        guard determinant > 0 else { return 0 }
        let slope = max(
            (sumD * sumL - sum * sumLD) / determinant, 1 / (2 * largest * Double(object.a) * Double(object.b)))
        // A Gaussian is half as high where b d = ln 2.
        let fwhm = 2 * (log(2.0) / slope).squareRoot()
        guard fwhm.isFinite, fwhm > 0 else { return 0 }
        // The average over a pixel is wider than the light; the correction is SExtractor's.
        return max(0, fwhm - 1 / (4 * fwhm))
    }
}
