import Base
import NIOCore

@testable import Sky
@testable import SkyCore
@testable import SkyJobs
@testable import Transport

/// Pixels that another node has, from the request to the values: a header, tiles and lists of tiles that say anything.
enum PixelTarget: FuzzTarget {
    static let name = "pixels"
    static let limit = RunLimit.brief

    static func run(_ input: FuzzInput) {
        var input = input
        switch input.byte() & 3 {
        case 0: ask(&input)
        case 1: decode(&input)
        default: read(&input)
        }
    }

    /// Asks for the pixels that a node would ask for ahead, because of a task that passes its door.
    private static func ask(_ input: inout FuzzInput) {
        let image = honest { () -> ImageReference in
            var image = ImageReference(path: "/data/m13.fits", hdu: 1, content: HonestRequests.content)
            image.holder = HonestRequests.holder
            return image
        }
        let configuration = HonestRequests.configuration(input.byte())
        let work: SkyWork =
            switch input.byte() & 3 {
            case 0: .background(image, HonestRequests.sector, configuration)
            case 1: .seeing(image, HonestRequests.sector, HonestRequests.background, configuration)
            case 2: .extract(image, HonestRequests.sector, HonestRequests.background, configuration)
            default: .join(image, HonestRequests.union, HonestRequests.background, configuration)
            }
        guard let task = input.hostile(ScanTask(.sky(work), label: "sector 2")), (try? task.validate()) != nil else {
            return
        }
        require(task.byteCount > 0, "a task takes memory")
        var cache = TileCache(limit: 4096)
        if let (image, hdu, rect) = task.work.sky?.pixels {
            require(image.contents.count <= 3, "an image, its noise and its mask")
            // This is what `PixelStore.lookAhead` does.
            if rect.isSmall, let content = image.content {
                let tiles = PixelTiles(width: rect.right, height: rect.bottom)
                for tile in tiles.tiles(of: rect) {
                    require(tiles.rect(of: tile) != nil, "a tile of the image: \(tile)")
                    let file = PixelFile(path: image.path, content: content, hdu: hdu)
                    keep(PixelRequest(file: file, part: .tile(tile), holder: image.holder), &input, &cache)
                }
            }
        }
        // This is what another node asks this one for.
        let file = PixelFile(path: "/data/m13.fits", content: HonestRequests.content, hdu: 1)
        let sample = PixelRequest(file: file, part: .tile(PixelTile(column: 1, row: 0)), holder: nil)
        guard let request = input.hostile(sample), request.objection == nil else { return }
        keep(request, &input, &cache)
        if case .tile(let tile) = request.part { _ = PixelTiles(width: 700, height: 100).rect(of: tile) }
        cache.removeAll()
        require(cache.byteCount == 0, "nothing is left")
    }

    private static func keep(_ request: PixelRequest, _ input: inout FuzzInput, _ cache: inout TileCache) {
        let key = TileCache.Key(request)
        cache.insert(key, ByteBuffer(bytes: [UInt8](repeating: 1, count: Int(input.byte()) * 8)))
        _ = cache.value(key)
        require(cache.byteCount <= 4096, "a bounded number of bytes")
    }

    private static func decode(_ input: inout FuzzInput) {
        let pixels = (0..<Int(input.byte() & 31)).map { _ in Float(input.hostileReal()) }
        let honest = PackedPixels.encode(pixels)
        let read = PackedPixels.decode(ByteBuffer(bytes: honest), count: pixels.count)
        require(
            read.map { zip($0, pixels).allSatisfy { $0 == $1 || $0.isNaN && $1.isNaN } } == true, "pixels come back")
        guard let bytes = input.hostile(ByteBuffer(bytes: honest)) else { return }
        let other = PackedPixels.decode(bytes, count: Int(input.byte()))
        require((other?.count ?? 0) <= 255, "as many pixels as were asked for")
    }

    /// A worker reads an image of another node's.
    private static func read(_ input: inout FuzzInput) {
        var info = HonestRequests.info
        (info.width, info.height) = (Int(input.byte()) + 1, Int(input.byte() & 15) + 1)
        // These values belong to the file, not to the tiles.
        (info.header, info.content, info.noiseContent, info.maskContent) = (nil, nil, nil, nil)
        guard let header = input.hostile(RemoteHeader(info: info, cards: ["SIMPLE  = T"], coordinates: [])) else {
            return
        }
        let supply = HostilePixels(header: header, input: input)
        let file = PixelFile(path: "/data/m13.fits", content: HonestRequests.content, hdu: 1)
        guard let image = try? RemoteImage(file, holder: HonestRequests.holder, supply: supply) else { return }
        for _ in 0..<3 {
            let sample = PixelRect(x: 0, y: 0, width: min(info.width, 8), height: 1)
            guard let rect = supply.input.hostile(sample) else { return }
            // A reader has checked what it asks for; see `ScanTask.validate`.
            guard (try? rect.validate()) != nil, rect.width < 4096, rect.height < 64 else { continue }
            if let pixels = try? image.read(rect) { require(pixels.count == rect.area, "the pixels of \(rect)") }
        }
    }

    static func seeds() -> [[UInt8]] {
        var seeds: [[UInt8]] = []
        for kind in UInt8(0)..<4 {
            seeds.append([kind])
            seeds.append([kind, 30, 4, 0, 0, 0])
            seeds.append([kind, 3, 1, 1, 0, 5, 7, 1, 0, 6, 9])
            seeds.append([kind] + (0..<64).map { $0 &* 7 })
        }
        return seeds
    }
}

/// A node that sends anything for a tile. The fuzzer has one thread.
private final class HostilePixels: PixelSupply, @unchecked Sendable {
    private let header: RemoteHeader
    var input: FuzzInput

    init(header: RemoteHeader, input: FuzzInput) {
        (self.header, self.input) = (header, input)
    }

    func parts(_ requests: [PixelRequest]) throws(SkyError) -> [ByteBuffer] {
        if input.byte() == 255 { throw SkyError(.unavailable, "it is gone") }
        let tiles = PixelTiles(width: header.info.width, height: header.info.height)
        return requests.map { request in
            switch request.part {
            case .header: return honest { try WireCoder.encode(header) }
            // Whatever a result is, this is none: `AnswerTarget` damages those that are.
            case .result: return input.hostile(honest { try WireCoder.encode(header) }) ?? ByteBuffer()
            case .tile(let tile):
                // A megabyte a run would be too slow.
                guard let area = tiles.rect(of: tile)?.area, area <= 4096 else { return ByteBuffer() }
                let pixels = [Float](repeating: Float(input.byte()), count: area)
                return input.hostile(ByteBuffer(bytes: PackedPixels.encode(pixels))) ?? ByteBuffer()
            }
        }
    }
}
