import Glibc

/// A source as a line of the catalogue, with the values that follow from its measurements.
///
/// It is a class because each column goes over all rows, and a value would have its lists and texts copied each time.
package final class CatalogueRow: Sendable {
    /// Place in the catalogue, from 1 (`NUMBER`).
    package let number: Int
    /// Place among the sources of its image, from 1.
    let numberInImage: Int
    package let source: Source
    /// Magnitude of one unit of flux.
    package let zeroPoint: Double
    /// The name of the image in which the source was found.
    package let image: String

    init(number: Int, numberInImage: Int, source: Source, zeroPoint: Double, image: String) {
        (self.number, self.numberInImage, self.source) = (number, numberInImage, source)
        (self.zeroPoint, self.image) = (zeroPoint, image)
    }

    /// Pogson's magnitude, zero point - 2.5 log10(flux); `nil` if the flux has no logarithm.
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
