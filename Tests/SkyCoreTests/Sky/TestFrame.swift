import Glibc
import SkyCore

extension SplitMix64 {
    /// A standard normal deviate (Box and Muller 1958).
    mutating func normal() -> Double {
        let u = Double.random(in: 1e-12...1, using: &self)
        return sqrt(-2 * log(u)) * cos(2 * .pi * Double.random(in: 0...1, using: &self))
    }
}

/// A made-up frame: sky with a gradient, noise, stars, and whatever a test adds.
struct TestFrame {
    var width: Int
    var height: Int
    var pixels: [Float]
    var random: SplitMix64

    init(width: Int, height: Int, seed: UInt64, noise: Double = 5) {
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
    mutating func addStar(x: Double, y: Double, flux: Double, sigma: Double = 1.4, flattening: Double = 1) {
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

    mutating func addStars(_ count: Int, brightest: Double = 30_000) {
        for _ in 0..<count {
            let x = Double.random(in: 0..<Double(width), using: &random)
            let y = Double.random(in: 0..<Double(height), using: &random)
            addStar(x: x, y: y, flux: brightest * pow(Double.random(in: 0.001...1, using: &random), 2))
        }
    }

    mutating func erase(_ rect: PixelRect) {
        for y in rect.y..<rect.y + rect.height {
            for x in rect.x..<rect.x + rect.width { pixels[y * width + x] = .nan }
        }
    }

    var rect: PixelRect { PixelRect(x: 0, y: 0, width: width, height: height) }
    var info: ImageInfo { ImageInfo(width: width, height: height, bitpix: -32, hdu: 0, hasWCS: false) }

    /// The pixels of a part of the frame.
    func cut(_ part: PixelRect) -> [Float] {
        (part.y..<part.y + part.height).flatMap { y in
            pixels[(y * width + part.x)..<(y * width + part.x + part.width)]
        }
    }

    /// The frame as a FITS file of 32-bit floats.
    func fits(cards: [String] = []) -> [UInt8] {
        FITSBytes.header(["BITPIX  = -32", "NAXIS   = 2", "NAXIS1  = \(width)", "NAXIS2  = \(height)"] + cards)
            + FITSBytes.padded(
                pixels.flatMap { value in
                    let bits = value.bitPattern
                    return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bits >> UInt32($0)) }
                })
    }
}

/// Raw FITS blocks, so that tests can also write what cfitsio would not.
enum FITSBytes {
    static func header(_ cards: [String], first: String = "SIMPLE  = T") -> [UInt8] {
        let text = ([first] + cards + ["END"]).map { card in
            // A fixed-format value ends in column 30.
            guard let equals = card.firstIndex(of: "="), !card.contains("'") else { return pad(card, 80) }
            let value = card[card.index(after: equals)...].drop { $0 == " " }
            let key = String(card[...equals]) + " "
            return pad(key + String(repeating: " ", count: max(0, 20 - value.count)) + value, 80)
        }
        return padded(Array(text.joined().utf8), with: 0x20)
    }

    static func padded(_ bytes: [UInt8], with filler: UInt8 = 0) -> [UInt8] {
        bytes + [UInt8](repeating: filler, count: (2880 - bytes.count % 2880) % 2880)
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}

/// A folder that goes away with the test.
final class TemporaryFolder {
    let path: String

    init() {
        var template = Array("/tmp/skycore-tests-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? "/tmp"
    }

    /// Writes a file and returns its path.
    func write(_ bytes: [UInt8], _ name: String = "frame.fits") -> String {
        let file = path + "/" + name
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        _ = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
        return file
    }

    deinit {
        for name in (try? names()) ?? [] { unlink(path + "/" + name) }
        rmdir(path)
    }

    private func names() throws -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var result: [String] = []
        while let entry = readdir(folder) {
            withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { result.append(String(cString: $0)) }
            }
        }
        return result.filter { $0 != "." && $0 != ".." }
    }
}

/// Real frames beside the package, which not every checkout has.
enum RealFrames {
    static let folder: String = {
        // Tests/SkyCoreTests/Sky/TestFrame.swift: without the last four parts, the package.
        var parts = #filePath.split(separator: "/").map(String.init)
        parts.removeLast(5)
        return "/" + (parts + ["shared", "sky"]).joined(separator: "/")
    }()

    static let areHere = access(folder, R_OK) == 0
    static let comment = "real frames are not beside the package in ../shared/sky"
}

extension SkyError {
    /// The error that `body` throws, or `nil`.
    static func thrown<Result>(by body: () throws(SkyError) -> Result) -> SkyError? {
        do {
            _ = try body()
            return nil
        } catch {
            return error
        }
    }
}
