import Glibc

/// A source as a line of the catalogue, with what follows from its measurements.
package struct CatalogueRow {
    /// Place in the catalogue, from 1 (`NUMBER`).
    package let number: Int
    /// Place among the sources of its image, from 1.
    let numberInImage: Int
    package let source: Source
    /// Magnitude of one unit of flux.
    package let zeroPoint: Double
    /// Name of the image that it is from.
    package let image: String

    /// Pogson's magnitude, zero point - 2.5 log10(flux); `nil` where the flux has no logarithm.
    package func magnitude(_ flux: Double) -> Double? {
        flux > 0 ? zeroPoint - 2.5 * log10(flux) : nil
    }

    /// Error of the magnitude to first order, 2.5 / ln(10) times the relative error of the flux.
    func magnitudeError(_ flux: Double, _ error: Double) -> Double? {
        flux > 0 ? 2.5 / log(10.0) * error / flux : nil
    }

    var elongation: Double? {
        source.b > 0 ? source.a / source.b : nil
    }
}
