import Base
import NIOCore
import Sky
import SkyCore
import Transport

/// Where a worker gets parts of images that its node cannot open.
protocol PixelSupply: ImageSupply {
    /// Returns the parts, in the order of the requests. Blocks.
    ///
    /// - Throws: `SkyError` of kind `unavailable` if the node that has the parts cannot be reached.
    func parts(_ requests: [PixelRequest]) throws(SkyError) -> [ByteBuffer]
}

extension PixelSupply {
    package func image(_ file: PixelFile, holder: PixelHolder) throws(SkyError) -> any PixelSource {
        try RemoteImage(file, holder: holder, supply: self)
    }
}

/// An image whose file is on another node. Its pixels come in tiles, when they are needed.
final class RemoteImage: PixelSource {
    let path: String
    let info: ImageInfo
    let header: [String]
    let wcs: WCSTransform?

    private let file: PixelFile
    private let holder: PixelHolder
    private let supply: any PixelSupply
    private let tiles: PixelTiles
    /// The tiles that were used last. The latest is at the end.
    private var unpacked: [(tile: PixelTile, pixels: [Float])] = []

    /// Two sectors with their margins, as sectors usually lie. Each tile takes a megabyte.
    private static let unpackedLimit = 32
    /// How many tiles are requested at a time. All of them fit into `unpacked`.
    private static let askedLimit = 16

    /// - Throws: `SkyError` if the node that has the file cannot be reached or cannot read it.
    init(_ file: PixelFile, holder: PixelHolder, supply: any PixelSupply) throws(SkyError) {
        let reply = try supply.parts([PixelRequest(file: file, part: .header, holder: holder)])
        guard let bytes = reply.first, let header = try? WireCoder.decode(RemoteHeader.self, from: bytes),
            ImageInfo.canBeScanned(width: header.info.width, height: header.info.height)
        else {
            throw SkyError(
                .failed, "\(FITSSniff.quoted(file.path)): node \(holder.name) sent something else than its header")
        }
        (self.file, self.holder, self.supply) = (file, holder, supply)
        path = file.path
        info = header.info
        self.header = header.cards
        wcs = try? WCSTransform(
            bytes: header.coordinates, plane: header.plane, tables: header.lookupTables ?? [])
        wcs?.bayer = file.layer?.bayer
        tiles = PixelTiles(width: info.width, height: info.height)
    }

    func images() -> (sky: [Int], others: [String]) { ([info.hdu], []) }

    func read(_ rect: PixelRect) throws(SkyError) -> [Float] {
        guard info.contains(rect) else {
            throw SkyError(.badInput, "the rectangle \(rect) is not inside \(FITSSniff.quoted(path))")
        }
        var result = [Float](repeating: .nan, count: rect.area)
        let needed = tiles.tiles(of: rect)
        for start in stride(from: 0, to: needed.count, by: RemoteImage.askedLimit) {
            let some = needed[start..<min(start + RemoteImage.askedLimit, needed.count)]
            try unpack(some)
            for tile in some { copy(tile, to: &result, of: rect) }
        }
        return result
    }

    /// Makes sure that these tiles are unpacked. They replace the tiles that have not been used for the longest time.
    private func unpack(_ wanted: ArraySlice<PixelTile>) throws(SkyError) {
        let present = unpacked.filter { wanted.contains($0.tile) }
        let missing = wanted.filter { tile in !present.contains { $0.tile == tile } }
        guard !missing.isEmpty else { return }
        unpacked = unpacked.filter { !wanted.contains($0.tile) } + present
        let parts = try supply.parts(missing.map { PixelRequest(file: file, part: .tile($0), holder: holder) })
        for (tile, bytes) in zip(missing, parts) {
            guard let place = tiles.rect(of: tile), let pixels = PackedPixels.decode(bytes, count: place.area) else {
                throw SkyError(
                    .failed, "\(FITSSniff.quoted(path)): node \(holder.name) sent something else than its pixels")
            }
            unpacked.append((tile, pixels))
        }
        unpacked.removeFirst(max(0, unpacked.count - RemoteImage.unpackedLimit))
    }

    private func copy(_ tile: PixelTile, to result: inout [Float], of rect: PixelRect) {
        guard let place = tiles.rect(of: tile), let index = unpacked.lastIndex(where: { $0.tile == tile }) else {
            return
        }
        let columns = max(rect.x, place.x)..<min(rect.right, place.right)
        let rows = max(rect.y, place.y)..<min(rect.bottom, place.bottom)
        unpacked[index].pixels.withUnsafeBufferPointer { pixels in
            result.withUnsafeMutableBufferPointer { result in
                for y in rows {
                    let from = (y - place.y) * place.width + columns.lowerBound - place.x
                    let to = (y - rect.y) * rect.width + columns.lowerBound - rect.x
                    _ = result[to..<to + columns.count].update(fromContentsOf: pixels[from..<from + columns.count])
                }
            }
        }
    }
}
