import Fixtures
import Glibc

@testable import Sky

/// One exposure of a made-up field: stars and galaxies that every exposure shows, and what a test adds to this one.
struct PaintedEpoch {
    /// A point in the field, in pixels of the exposure that is not moved, counted from 0.
    struct Star: Hashable {
        var x: Double
        var y: Double
        var flux: Double
    }

    static let side = 420
    /// Arcseconds in a pixel.
    static let scale = 0.5

    var fwhm = 3.2
    /// How the telescope points otherwise: pixels, and degrees about the middle.
    var dx = 0.0
    var dy = 0.0
    var turn = 0.0
    /// Share of the light that comes through.
    var transparency = 1.0
    var seed: UInt64 = 1
    var field = PaintedEpoch.stars(140, seed: 5)
    /// Only in this exposure.
    var extra: [Star] = []
    var hasWCS = true
    /// Changes pixels when all is painted.
    var spoil: (inout PixelCanvas) -> Void = { _ in }

    /// Stars all over the field, most of them faint.
    static func stars(_ count: Int, seed: UInt64) -> [Star] {
        var random = RandomStream(seed: seed, purpose: 77)
        return (0..<count).map { _ in
            Star(
                x: random.uniform(0, Double(side)), y: random.uniform(0, Double(side)),
                flux: 1500 * pow(10, 2 * random.uniform() * random.uniform()))
        }
    }

    /// A star near a place that has no other within 16 pixels.
    static func lonely(x: Double, y: Double, flux: Double) -> Star {
        let field = PaintedEpoch().field
        var place = (x: x, y: y)
        for step in 0..<400 {
            let angle = Double(step)
            place = (x + Double(step) * 0.25 * cos(angle), y + Double(step) * 0.25 * sin(angle))
            if field.allSatisfy({ abs($0.x - place.x) > 16 || abs($0.y - place.y) > 16 }) { break }
        }
        return Star(x: place.x, y: place.y, flux: flux)
    }

    /// Where a point of the field lies on this exposure, counted from 0.
    func place(_ star: Star) -> (x: Double, y: Double) {
        let middle = Double(Self.side) / 2 - 0.5
        let (c, s) = (cos(turn * .pi / 180), sin(turn * .pi / 180))
        let (x, y) = (star.x - middle, star.y - middle)
        return (c * x - s * y + middle + dx, s * x + c * y + middle + dy)
    }

    var pixels: [Float] {
        var canvas = PixelCanvas(width: Self.side, height: Self.side)
        let profile = MoffatProfile(fwhm: fwhm)
        for star in field + extra {
            let place = place(star)
            profile.paint(x: place.x, y: place.y, flux: star.flux * transparency, floor: 0.2, on: &canvas)
        }
        var recipe = SkySynthesis()
        (recipe.width, recipe.height, recipe.seed) = (Self.side, Self.side, seed)
        DetectorNoise(recipe).apply(to: &canvas)
        spoil(&canvas)
        return canvas.pixels
    }

    /// The exposure as a file.
    func fits() -> [UInt8] {
        var frame = TestFrame(width: 1, height: 1, seed: 1)
        (frame.width, frame.height, frame.pixels) = (Self.side, Self.side, pixels)
        guard hasWCS else { return frame.fits() }
        let middle = Double(Self.side) / 2 + 0.5
        let degrees = Self.scale / 3600
        let (c, s) = (cos(turn * .pi / 180) * degrees, sin(turn * .pi / 180) * degrees)
        return frame.fits(cards: [
            "CTYPE1  = 'RA---TAN'", "CTYPE2  = 'DEC--TAN'", "CRVAL1  = 150.0", "CRVAL2  = 20.0",
            "CRPIX1  = \(middle + dx)", "CRPIX2  = \(middle + dy)",
            "CD1_1   = \(-c)", "CD1_2   = \(-s)", "CD2_1   = \(-s)", "CD2_2   = \(c)",
        ])
    }
}

/// An exposure as the program sees it.
struct ScannedEpoch {
    let image: EpochImage
    let catalogue: Catalogue
    let configuration: ScanConfiguration

    init(_ path: String, sector: Int? = nil) throws {
        var configuration = ScanConfiguration()
        configuration.sectorSize = sector
        self.configuration = configuration
        let engine = SkyEngine()
        let file = ImageReference(path: path, hdu: nil)
        let info = try engine.inspect(path: path, hdu: nil)
        let sectors = try SectorGrid(info: info, configuration: configuration).sectors
        let tiles = try sectors.map { try engine.background(in: file, sector: $0, configuration: configuration) }
        let map = try BackgroundMap(tiles: tiles, info: info, configuration: configuration)
        let results = try sectors.map {
            try engine.extract(in: file, sector: $0, background: map, configuration: configuration)
        }
        catalogue = Catalogue(merging: results, info: info)
        image = try EpochImage(ScanImage(FITSImage(path: path, hdu: nil)), background: map)
    }

    /// The results of all sectors of this image against `old`.
    func differences(from old: ScannedEpoch, _ pair: EpochPair) throws -> [DifferenceResult] {
        try SectorGrid(info: catalogue.info, configuration: configuration).sectors.map {
            try DifferenceScan(new: image, old: old.image, order: pair.order(for: $0)).run()
        }
    }

    func compared(with old: ScannedEpoch) throws -> EpochComparison {
        let pair = try EpochPair(new: Epoch(catalogue: catalogue), old: Epoch(catalogue: old.catalogue))
        return EpochComparison(
            merging: try differences(from: old, pair), pair: pair, new: catalogue, old: old.catalogue)
    }
}

/// Files of some exposures, and their comparisons.
final class EpochStudy {
    private let folder = TemporaryFolder()
    private var count = 0

    func scan(_ epoch: PaintedEpoch, sector: Int? = nil) throws -> ScannedEpoch {
        count += 1
        return try ScannedEpoch(folder.write(epoch.fits(), "e\(count).fits"), sector: sector)
    }

    /// What changed from `old` to `new`.
    func compare(_ new: PaintedEpoch, with old: PaintedEpoch) throws -> EpochComparison {
        try scan(new).compared(with: scan(old))
    }
}

extension EpochComparison {
    /// The rows near a point of the field, as `epoch` shows it.
    func near(_ star: PaintedEpoch.Star, in epoch: PaintedEpoch, radius: Double = 2) -> [EpochChange] {
        let place = epoch.place(star)
        return changes.filter { abs($0.x - 1 - place.x) < radius && abs($0.y - 1 - place.y) < radius }
    }
}
