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
        if case .result(let bytes) = request.part { return try result(of: bytes, name) }
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
            case .result: throw SkyError(.failed, "\(name): it is no part of the pixels")
            }
        }
    }

    /// Does work for another node that does not have the files.
    private func result(of bytes: ByteBuffer, _ name: String) throws(SkyError) -> ByteBuffer {
        guard let work = PixelRequest.work(bytes) else {
            throw SkyError(.badInput, "\(name): no such work is done")
        }
        let image = work.image
        // Of a file that is only named it would be said whether it is there.
        guard image.contents.count == image.paths.count else {
            throw SkyError(.unavailable, "\(name): not all of its files are known")
        }
        let result = try serve(image.contents[...]) { () throws(SkyError) in try perform(work) }
        do {
            return try WireCoder.encode(result)
        } catch {
            throw SkyError(.failed, "\(name): the result cannot be sent: \(error)")
        }
    }
}
