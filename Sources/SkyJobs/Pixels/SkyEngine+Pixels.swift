import Base
import NIOCore
import Sky
import SkyCore
import Transport

extension SkyEngine {
    /// Reads a part of a file for another node.
    func part(_ request: PixelRequest) throws(SkyError) -> ByteBuffer {
        if let objection = request.objection { throw SkyError(.badInput, objection) }
        let name = FITSSniff.quoted(request.file.path)
        return try serve(request.file) { image throws(SkyError) in
            switch request.part {
            case .header:
                let tables = image.lookupTables
                let header = RemoteHeader(
                    info: image.info, cards: image.header, coordinates: image.coordinates,
                    lookupTables: tables.isEmpty ? nil : tables, plane: image.info.cube == nil ? nil : image.plane)
                do {
                    return try WireCoder.encode(header)
                } catch {
                    throw SkyError(.badInput, "\(name): its header cannot be sent: \(error)")
                }
            case .tile(let tile):
                guard let rect = PixelTiles(width: image.info.width, height: image.info.height).rect(of: tile) else {
                    throw SkyError(.badInput, "\(name): there is no tile \(tile.column), \(tile.row) in it")
                }
                return ByteBuffer(bytes: PackedPixels.encode(try image.read(rect)))
            }
        }
    }
}
