import Glibc

/// Measures how wide a source's core is: fits a Gaussian to the logarithms of the source's brighter pixels, as a function of
/// the squared distance from the centroid (SExtractor's `FWHM_IMAGE`).
enum GaussianWidth {
    /// Pixels fainter than this share of the peak belong to the wings, which are not Gaussian.
    private static let coreShare = 0.2
    /// sigma^2 is at most this many times the product of the axes.
    private static let largest = 6.5

    /// - Parameters:
    ///   - footprint: The source's pixels.
    ///   - pixels: The unfiltered image that the footprint indexes, `width` pixels in a row.
    ///   - saturation: The level above the background from which a pixel tells nothing; infinite for none.
    /// - Returns: The full width at half maximum in pixels; 0 if there are too few pixels for a fit.
    static func fwhm(
        of object: Detection, footprint: ArraySlice<Int32>, pixels: UnsafePointer<Float>, width: Int,
        saturation: Double
    ) -> Double {
        let floor = max(Double(object.peak) * coreShare, Double(object.threshold))
        guard floor > 0, object.a > 0, object.b > 0 else { return 0 }
        // The fit is ln p = c - b d, where d is the squared distance. The weights are p^2, because the error of ln p is that of
        // p divided by p.
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
        // A Gaussian has half its height where b d = ln 2.
        let fwhm = 2 * (log(2.0) / slope).squareRoot()
        guard fwhm.isFinite, fwhm > 0 else { return 0 }
        // The average over a pixel is wider than the light itself; the correction is SExtractor's.
        return max(0, fwhm - 1 / (4 * fwhm))
    }
}
