import Base
import Fixtures
import Testing

@testable import Sky

/// An engine marks the stages of its work.
@Suite struct EngineStagesTests {
    private let folder = TemporaryFolder()

    @Test func `every piece of work tells its stages, and what it finds is the same`() throws {
        var frame = TestFrame(width: 200, height: 160, seed: 5)
        frame.addStars(60)
        let path = folder.write(frame.fits())
        var configuration = ScanConfiguration()
        configuration.meshSize = 32
        let engine = SkyEngine()
        let image = ImageReference(path: path, hdu: nil)
        let info = try engine.inspect(path: path, hdu: nil)
        #expect(Set(engine.stages.finish().keys) == [.open, .digest])
        let sector = try SectorGrid(info: info, configuration: configuration).sectors[0]
        let tile = try engine.background(in: image, sector: sector, configuration: configuration)
        #expect(Set(engine.stages.finish().keys) == [.open, .read, .background])
        let map = try BackgroundMap(tiles: [tile], info: info, configuration: configuration)
        func extract(_ engine: SkyEngine) throws -> SectorResult {
            try engine.extract(in: image, sector: sector, background: map, configuration: configuration)
        }
        let found = try extract(engine)
        let times = engine.stages.finish()
        #expect(Set(times.keys) == [.open, .read, .background, .detection, .deblending, .photometry])
        #expect(times.values.allSatisfy { $0 > .zero })
        let again = try extract(SkyEngine())
        #expect(!found.sources.isEmpty && found == again)
        let content = try #require(info.content)
        _ = try engine.with(content, of: path) {
            try engine.preview(path: path, hdu: nil, maximumSide: 64)
        }
        #expect(engine.stages.finish().keys.contains(.draw))
    }
}
