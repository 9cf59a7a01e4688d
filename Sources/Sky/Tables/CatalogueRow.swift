import Glibc

/// A source as a line of the catalogue, with what follows from its measurements.
///
/// A class: each column goes over all rows, and would otherwise copy the lists and texts in each.
package final class CatalogueRow: Sendable {
    /// Place in the catalogue, from 1 (`NUMBER`).
    package let number: Int
    /// Place among the sources of its image, from 1.
    let numberInImage: Int
    package let source: Source
    /// Magnitude of one unit of flux.
    package let zeroPoint: Double
    /// Name of the image that it is from.
    package let image: String

    init(number: Int, numberInImage: Int, source: Source, zeroPoint: Double, image: String) {
        (self.number, self.numberInImage, self.source) = (number, numberInImage, source)
        (self.zeroPoint, self.image) = (zeroPoint, image)
    }

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
