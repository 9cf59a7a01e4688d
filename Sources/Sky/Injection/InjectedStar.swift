/// A star that was added to an image. The part of the scan that has its place returns it.
package struct InjectedStar: Hashable, Codable, Sendable {
    /// Place among all stars of the injection, from 1.
    package var number: Int
    /// Column in pixels counted from 1, as in a catalogue.
    package var x: Double
    /// Row in pixels counted from 1.
    package var y: Double
    /// Total flux in units of the image.
    package var flux: Double
    /// Right ascension and declination in degrees; `nil` without a WCS.
    package var alpha: Double?
    package var delta: Double?
    /// Whether the pixel at its centre has no value, or is masked, so that the star cannot be found there.
    package var isMasked = false

    package init(number: Int, x: Double, y: Double, flux: Double) {
        self.number = number
        self.x = x
        self.y = y
        self.flux = flux
    }

    /// The pixel that contains its centre, counted from 0.
    var pixel: (x: Int, y: Int) { (Int((x - 1).rounded()), Int((y - 1).rounded())) }
}

extension InjectedStar {
    var hasPlace: Bool { Source.places.contains(x) && Source.places.contains(y) && flux.isFinite }
}
