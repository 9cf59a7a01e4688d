import CSEP
import Testing

@testable import Sky

@Suite struct MeshStatisticsTests {
    /// Levels and noises by SEP itself, NaN where it replaces a mesh by its neighbours.
    private func bySEP(_ pixels: [Float], width: Int, mesh: Int) throws -> (levels: [Float], sigmas: [Float]) {
        let height = pixels.count / width
        let mask = pixels.missing
        var map: UnsafeMutablePointer<sep_bkg>?
        let status = pixels.withUnsafeBufferPointer { data in
            mask.withUnsafeBufferPointer { mask in
                var image = sep_image()
                image.data = UnsafeRawPointer(data.baseAddress)
                image.dtype = SEP_TFLOAT
                image.mask = UnsafeRawPointer(mask.baseAddress)
                image.mdtype = SEP_TBYTE
                image.w = Int32(width)
                image.h = Int32(height)
                return sep_background(&image, Int32(mesh), Int32(mesh), 1, 1, 0, &map)
            }
        }
        defer { sep_bkg_free(map) }
        try #require(status == 0)
        let found = try #require(map).pointee
        var levels = Array(UnsafeBufferPointer(start: found.back, count: Int(found.n)))
        var sigmas = Array(UnsafeBufferPointer(start: found.sigma, count: Int(found.n)))
        for index in levels.indices {
            let (column, row) = (index % Int(found.nx) * mesh, index / Int(found.nx) * mesh)
            let (right, bottom) = (min(column + mesh, width), min(row + mesh, height))
            let good = (row..<bottom).reduce(0) { sum, y in
                sum + (column..<right).count { !pixels[y * width + $0].isNaN }
            }
            if 2 * good < (right - column) * (bottom - row) { (levels[index], sigmas[index]) = (.nan, .nan) }
        }
        return (levels, sigmas)
    }

    private func expectSame(_ pixels: [Float], width: Int, mesh: Int, _ what: String) throws {
        let (levels, sigmas) = try bySEP(pixels, width: width, mesh: mesh)
        let found = MeshStatistics(pixels, width: width, mesh: mesh)
        try #require(found.levels.count == levels.count && found.sigmas.count == sigmas.count)
        for index in levels.indices {
            // All that is not finite is one: no level.
            let (level, sigma) = (found.levels[index], found.sigmas[index])
            if !level.isFinite || !sigma.isFinite {
                #expect(!levels[index].isFinite || !sigmas[index].isFinite, "\(what), mesh \(index)")
            } else {
                #expect(level.bitPattern == levels[index].bitPattern, "\(what), mesh \(index)")
                #expect(sigma.bitPattern == sigmas[index].bitPattern, "\(what), mesh \(index)")
            }
        }
    }

    /// A way to make pixels, with its name.
    private typealias Kind = (name: String, pixel: (inout RandomStream) -> Double)

    private let kinds: [Kind] = [
        ("sky", { 1000 + 12 * $0.normal() }),
        ("a sky of whole numbers", { (300 + 3 * $0.normal()).rounded() }),
        ("two values", { $0.uniform() < 0.7 ? 5 : 6 }),
        ("one value", { _ in -3.25 }),
        ("stars all over", { 100 + 5 * $0.normal() + ($0.uniform() < 0.3 ? 500 * $0.uniform() : 0) }),
        ("a long tail", { -50 * $0.uniform().squareRoot().squareRoot() + 1 / (0.001 + $0.uniform()) }),
        ("missing pixels", { $0.uniform() < 0.45 ? .nan : 20 + $0.normal() }),
        ("hardly any pixels", { $0.uniform() < 0.5 ? .nan : 20 + $0.normal() }),
        ("no pixels", { _ in .nan }),
        ("saturated", { min(65_535, 65_500 + 40 * $0.normal()) }),
        ("tiny values", { 1e-40 * $0.normal() }),
        ("huge values", { 1e25 * $0.normal() }),
        ("infinite values", { $0.uniform() < 0.01 ? .infinity : $0.normal() }),
        ("gaps", { ($0.uniform() * 3).rounded() * 1000 + $0.normal() }),
        ("zeros of both signs", { $0.uniform() < 0.5 ? 0 : -0.0 }),
    ]

    @Test(arguments: [(64, 300, 200), (8, 61, 35), (16, 16, 16), (32, 31, 97), (128, 700, 130), (10, 40, 40)])
    func `the numbers are SEP's, bit by bit`(mesh: Int, width: Int, height: Int) throws {
        for seed in 1...UInt64(mesh > 60 ? 3 : 20) {
            for kind in kinds {
                var random = RandomStream(seed: seed, purpose: 5)
                let pixels = (0..<width * height).map { _ in Float(kind.pixel(&random)) }
                try expectSame(pixels, width: width, mesh: mesh, "\(kind.name), seed \(seed)")
            }
        }
    }

    @Test func `a mesh of few different values has the numbers of SEP, whatever they are`() throws {
        for seed in 1...UInt64(400) {
            var random = RandomStream(seed: seed, purpose: 6)
            let values = (0..<Int(random.uniform(1, 6))).map { _ in Float(random.uniform(-10, 10)) }
            let pixels = (0..<32 * 32).map { _ in
                values[min(Int(random.uniform() * random.uniform() * 6), values.count - 1)]
            }
            try expectSame(pixels, width: 32, mesh: 8, "seed \(seed)")
        }
    }
}
