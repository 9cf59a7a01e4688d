package import NIOCore
package import Transport

/// An image of a file that another node has.
package struct PixelFile: Hashable, Codable, Sendable {
    /// Absolute path on the node that has it.
    package var path: String
    /// What it holds. Who does not know it gets nothing.
    package var content: FileContent
    /// Which HDU, 0 for the primary; `nil` for the first with an image.
    package var hdu: Int?
    /// What of it; `nil` for all pixels of the first plane.
    package var layer: ImageLayer?
}

/// The node that looked at a file's header, and so can read it.
package struct PixelHolder: Hashable, Codable, Sendable {
    package var node: NodeID
    /// By which it is found again after a restart.
    package var name: String
}

/// Asks for a part of an image.
package struct PixelRequest: Hashable, Codable, Sendable {
    package enum Part: Hashable, Codable, Sendable {
        /// Everything but the pixels: `RemoteHeader`.
        case header
        /// A tile's pixels: `PixelPlanes`.
        case tile(PixelTile)
    }

    package var file: PixelFile
    package var part: Part
    /// Whom to ask; `nil` where the one who is asked has the file itself.
    package var holder: PixelHolder?

    /// What is wrong with it as something that a peer sent; `nil` where nothing is. Asked before anything is done for it.
    package var objection: String? {
        if let objection = file.objection { return objection }
        if let holder, !Hello.isValidName(holder.name) {
            return "a node's name is 1 to \(Hello.nameLimit) printable bytes"
        }
        guard case .tile(let tile) = part else { return nil }
        let places = 0..<PixelTiles.countLimit
        return places.contains(tile.column) && places.contains(tile.row) ? nil : "no image has such a tile"
    }
}

extension PixelFile {
    /// Longest path, as `FITSSniff` has it.
    private static let pathLimit = 1000
    /// More HDUs than any file has.
    private static let hduLimit = 10_000

    fileprivate var objection: String? {
        guard path.hasPrefix("/"), path.utf8.count <= PixelFile.pathLimit, !path.utf8.contains(0) else {
            return "a path is absolute and has at most \(PixelFile.pathLimit) bytes, none of them zero"
        }
        if let hdu, !(0..<PixelFile.hduLimit).contains(hdu) { return "no file has such an HDU" }
        do { try layer?.validate() } catch { return error.message }
        return content.objection
    }
}

/// What comes of it.
package enum PixelReply: Codable, Sendable {
    case part(ByteBuffer)
    /// Another node may have it.
    case unavailable(String)
    /// Nobody can read it.
    case badInput(String)
}
