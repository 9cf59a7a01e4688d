package import Base
import Glibc
package import Sky

extension SplitMix64 {
    /// A standard normal deviate (Box and Muller 1958).
    package mutating func normal() -> Double {
        let u = Double.random(in: 1e-12...1, using: &self)
        return sqrt(-2 * log(u)) * cos(2 * .pi * Double.random(in: 0...1, using: &self))
    }
}

/// A made-up frame: sky with a gradient, noise, stars, and all that a test adds.
package struct TestFrame {
    package var width: Int
    package var height: Int
    package var pixels: [Float]
    package var random: SplitMix64

    package init(width: Int, height: Int, seed: UInt64, noise: Double = 5) {
        self.width = width
        self.height = height
        random = SplitMix64(seed: seed)
        pixels = []
        pixels.reserveCapacity(width * height)
        for y in 0..<height {
            for x in 0..<width {
                let sky = 500 + 0.2 * Double(x) + 0.1 * Double(y) + 1e-4 * Double(x * y)
                pixels.append(Float(sky + noise * random.normal()))
            }
        }
    }

    /// Adds a Gaussian with its centre at a pixel counted from 0.
    package mutating func addStar(x: Double, y: Double, flux: Double, sigma: Double = 1.4, flattening: Double = 1) {
        let reach = Int(sigma * 6)
        for row in max(0, Int(y) - reach)..<min(height, Int(y) + reach + 1) {
            for column in max(0, Int(x) - reach)..<min(width, Int(x) + reach + 1) {
                let dx = (Double(column) - x) / sigma
                let dy = (Double(row) - y) / (sigma * flattening)
                pixels[row * width + column] += Float(
                    flux / (2 * .pi * sigma * sigma * flattening) * exp(-(dx * dx + dy * dy) / 2))
            }
        }
    }

    package mutating func addStars(_ count: Int, brightest: Double = 30_000) {
        for _ in 0..<count {
            let x = Double.random(in: 0..<Double(width), using: &random)
            let y = Double.random(in: 0..<Double(height), using: &random)
            addStar(x: x, y: y, flux: brightest * pow(Double.random(in: 0.001...1, using: &random), 2))
        }
    }

    package mutating func erase(_ rect: PixelRect) {
        for y in rect.y..<rect.y + rect.height {
            for x in rect.x..<rect.x + rect.width { pixels[y * width + x] = .nan }
        }
    }

    package var rect: PixelRect { PixelRect(x: 0, y: 0, width: width, height: height) }
    package var info: ImageInfo { ImageInfo(width: width, height: height, bitpix: -32, hdu: 0, hasWCS: false) }

    /// The pixels of a part of the frame.
    package func cut(_ part: PixelRect) -> [Float] {
        (part.y..<part.y + part.height).flatMap { y in
            pixels[(y * width + part.x)..<(y * width + part.x + part.width)]
        }
    }

    /// The frame as a FITS file of 32-bit floats.
    package func fits(cards: [String] = []) -> [UInt8] {
        FITSBytes.header(["BITPIX  = -32", "NAXIS   = 2", "NAXIS1  = \(width)", "NAXIS2  = \(height)"] + cards)
            + FITSBytes.padded(
                pixels.flatMap { value in
                    let bits = value.bitPattern
                    return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bits >> UInt32($0)) }
                })
    }
}
