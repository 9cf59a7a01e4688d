/// The pixels in which a source is measured, without background and neighbours.
///
/// The caller owns the memory behind the pointers and keeps it alive.
struct AperturePixels {
    /// `width` times `height` pixels, row by row.
    let values: UnsafePointer<Float>
    /// The noise of each pixel (1 sigma), if it is known.
    let noises: UnsafePointer<Float>?
    let width: Int
    let height: Int
    /// The noise of every pixel otherwise.
    let noise: Double
    /// Electrons per unit of the image; 0 leaves out the photons of the source itself.
    let gain: Double

    /// Apertures of larger radii are not measured. All pixels around a place in an image lie within this radius, and the numbers of
    /// lines and columns fit in 32 bits.
    static let largestRadius = 1e9

    /// The variance of a pixel's noise, rounded to 32 bits as in SEP.
    func variance(_ index: Int) -> Float {
        noises.map { $0[index] * $0[index] } ?? Float(noise * noise)
    }

    /// The 1-sigma error of a sum of pixels, with the photons of the light itself.
    ///
    /// - Parameter variance: The sum of the variances of the pixels' noise.
    func error(_ variance: Double, of sum: Double) -> Double {
        (gain > 0 && sum > 0 ? variance + sum / gain : variance).squareRoot()
    }
}
