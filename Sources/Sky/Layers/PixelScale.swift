import Base
import Glibc

/// How values become pixels if 32-bit floats cannot hold them, or not exactly enough: an offset is subtracted, and the result
/// is given in units of a power of two. The catalogue gives fluxes and levels in the image's own units again.
///
/// A power of two changes no digit of a float, so the scan finds the same sources as in the same image with other units.
public struct PixelScale: Hashable, Codable, Sendable {
    /// The value that is subtracted first, in the image's units.
    public var offset: Double
    /// The pixels are then in units of 2 to this power.
    public var exponent: Int

    /// The exponents of the powers of two that 64-bit floats have, with room for the results of calculations.
    static let exponents = -900...900
    static let offsets = -1e300...1e300

    package init(offset: Double, exponent: Int) { (self.offset, self.exponent) = (offset, exponent) }

    /// The unit of the pixels.
    package var unit: Double { scalbn(1, Int32(clamping: exponent)) }

    func pixel(_ value: Double) -> Double { scalbn(value - offset, Int32(clamping: -exponent)) }

    package func validate() throws(SkyError) {
        try SkyError.unless(
            PixelScale.exponents.contains(exponent) && PixelScale.offsets.contains(offset),
            "pixels in units of 2^\(exponent) above \(offset)")
    }
}

extension PixelScale {
    /// The configuration in the units of the pixels, from one in the image's units.
    func inPixels(_ configuration: ScanConfiguration) -> ScanConfiguration {
        var result = configuration
        result.gain = configuration.gain.map { min($0 * unit, Double.greatestFiniteMagnitude) }
        let finite = -Double.greatestFiniteMagnitude...Double.greatestFiniteMagnitude
        result.saturation = configuration.saturation.map { min(max(pixel($0), finite.lowerBound), finite.upperBound) }
        return result
    }

    /// A source in the image's units.
    func inImage(_ source: Source) -> Source {
        var source = source
        let unit = unit
        source.fluxAuto *= unit
        source.fluxErrorAuto *= unit
        source.fluxesAperture = source.fluxesAperture.map { $0 * unit }
        source.fluxErrorsAperture = source.fluxErrorsAperture.map { $0 * unit }
        source.fluxIsophotal *= unit
        source.peak *= unit
        source.threshold *= unit
        source.background = source.background * unit + offset
        source.further?.fluxErrorIsophotal *= unit
        return source
    }

    /// The scale that the values of an image need; `nil` for none, as for most images.
    ///
    /// - Parameter rows: The values of some rows, in which neighbouring values are those of neighbouring pixels.
    package init?(rows: [[Double]]) {
        guard !PixelScale.areFriendly(rows) else { return nil }
        // A value that stands for a missing pixel counts once, however many pixels are missing.
        let values = Set(rows.joined().filter(\.isFinite)).sorted()
        guard let first = values.first, let last = values.last, first < last else { return nil }
        let median = values[values.count / 2]
        let steps = rows.flatMap { row in
            zip(row, row.dropFirst()).map { abs($1 - $0) }.filter { $0.isFinite && $0 > 0 }
        }.sorted()
        guard !steps.isEmpty else { return nil }
        // The median difference of two deviates of sigma 1 is 0.954.
        let noise = steps[steps.count / 2] / 0.954
        guard noise.isFinite, noise > 0 else { return nil }
        var (offset, exponent) = (0.0, 0)
        let rounding = abs(median) * PixelScale.precisionOfFloats
        if rounding > noise * PixelScale.tolerableRounding, values.contains(where: { Double(Float($0)) != $0 }) {
            // The offset is a round number near the sky's level, in steps of the noise.
            let step = scalbn(1, Int32(clamping: Int(ilogb(noise)) + 4))
            offset = (median / step).rounded() * step
        }
        let level = max(abs(median - offset), noise)
        if level > PixelScale.largestLevel {
            exponent = Int(ilogb(level))
        } else if noise < PixelScale.leastNoise {
            exponent = Int(ilogb(noise))
        }
        guard offset != 0 || exponent != 0 else { return nil }
        self.init(offset: offset, exponent: exponent)
        guard PixelScale.exponents.contains(exponent), PixelScale.offsets.contains(offset) else { return nil }
    }

    /// Whether 32-bit floats hold all values exactly and with room for calculations, as in nearly every image.
    private static func areFriendly(_ rows: [[Double]]) -> Bool {
        var largest = 0.0
        for value in rows.joined() where !value.isNaN {
            guard Double(Float(value)) == value else { return false }
            largest = max(largest, abs(value))
        }
        return largest == 0 || (1e6 * leastNoise...largestLevel).contains(largest)
    }

    /// The distance of two neighbouring 32-bit floats, relative to their value.
    private static let precisionOfFloats = 0x1p-23
    /// The share of the noise that rounding may have: it then adds less than a ten-thousandth to the noise.
    private static let tolerableRounding = 1.0 / 16
    /// Between 4e-19 and 1e19, the square of the noise and its sums over an image are 32-bit floats with all their digits. The
    /// limits leave room because stars are a thousand times as bright.
    private static let (leastNoise, largestLevel) = (1e-18, 1e15)
}
