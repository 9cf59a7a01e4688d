import CSEP

@testable import Sky

/// Pixels that SEP itself and our apertures measure, so that tests can compare the two.
struct SEPImage {
    let width: Int
    let height: Int
    var values: [Float]
    var noises: [Float]?
    var noise = 1.0
    var gain = 0.0
    /// The mask and the sources of the pixels, which only the Kron moment looks at.
    var mask: [UInt8] = []
    var segments: [Int32] = []

    /// A way to make pixels, with its name.
    struct Kind: Sendable {
        let name: String
        let pixel: @Sendable (inout RandomStream) -> Double

        init(_ name: String, _ pixel: @escaping @Sendable (inout RandomStream) -> Double) {
            (self.name, self.pixel) = (name, pixel)
        }
    }

    static let kinds: [Kind] = [
        Kind("sky") { $0.normal() },
        Kind("light everywhere") { 50 + 5 * $0.normal() },
        Kind("negative light") { -3 + $0.normal() },
        Kind("spikes") { $0.normal() + ($0.uniform() < 0.05 ? 4000 * $0.uniform() : 0) },
        Kind("whole numbers") { (3 * $0.normal()).rounded() },
        Kind("nothing") { _ in 0 },
        Kind("zeros of both signs") { $0.uniform() < 0.5 ? 0 : -0.0 },
        Kind("missing pixels") { $0.uniform() < 0.01 ? .nan : 5 + $0.normal() },
        Kind("infinite pixels") { $0.uniform() < 0.01 ? .infinity : 5 + $0.normal() },
        Kind("huge values") { 1e30 * $0.normal() },
        Kind("tiny values") { 1e-42 * $0.normal() },
    ]

    /// Pixels of a kind with a star in the middle.
    init(_ kind: Kind, width: Int, height: Int, _ random: inout RandomStream) {
        (self.width, self.height) = (width, height)
        values = (0..<width * height).map { _ in Float(kind.pixel(&random)) }
        let (x, y) = (Double(width) / 2, Double(height) / 2)
        let light = MoffatLight(flux: 3000 * random.uniform(), width: random.uniform(1, 4))
        for place in values.indices {
            let (dx, dy) = (Double(place % width) - x, Double(place / width) - y)
            values[place] += light.brightness(dx * dx + dy * dy)
        }
    }

    /// Light that falls off slowly.
    private struct MoffatLight {
        let flux: Double
        let width: Double

        func brightness(_ square: Double) -> Float {
            let ratio = 1 + square / (width * width)
            return Float(flux / (width * width) / (ratio * ratio * ratio))
        }
    }

    /// A place: mostly near the star, now and then at the edges or outside of the image.
    func place(_ random: inout RandomStream) -> (x: Double, y: Double) {
        let (x, y) = (Double(width), Double(height))
        switch random.uniform() {
        case ..<0.6: return (x / 2 + 2 * random.normal(), y / 2 + 2 * random.normal())
        case ..<0.7: return ((x * random.uniform()).rounded(), (y * random.uniform()).rounded())
        case ..<0.8: return (x * random.uniform(), (random.uniform() < 0.5 ? 0 : y - 1) + random.normal())
        case ..<0.9: return ((random.uniform() < 0.5 ? 0 : x - 1) + random.normal(), y * random.uniform())
        default: return (x * random.uniform(-1, 2), y * random.uniform(-1, 2))
        }
    }

    /// Calls `body` with the pixels in our form and in SEP's.
    func withPixels(_ body: (AperturePixels, inout sep_image) -> Void) {
        values.withUnsafeBufferPointer { values in
            (noises ?? []).withUnsafeBufferPointer { noises in
                guard let start = values.baseAddress else { return }
                let known = self.noises == nil ? nil : noises.baseAddress
                var image = sep_image()
                image.data = UnsafeRawPointer(start)
                image.dtype = SEP_TFLOAT
                image.w = Int32(width)
                image.h = Int32(height)
                image.noiseval = noise
                image.noise_type = Int16(SEP_NOISE_STDDEV)
                image.noise = UnsafeRawPointer(known)
                image.ndtype = SEP_TFLOAT
                image.gain = gain
                body(
                    AperturePixels(
                        values: start, noises: known, width: width, height: height, noise: noise, gain: gain),
                    &image)
            }
        }
    }
}
