package import NIOCore
package import Sky
package import Transport

extension PixelHolder {
    /// A node that looked at a file.
    package init(node: NodeID, name: String) { self.init(node: node.rawValue, name: name) }

    /// The node that looked.
    package var id: NodeID { NodeID(rawValue: node) }
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

/// What comes of it.
package enum PixelReply: Codable, Sendable {
    case part(ByteBuffer)
    /// Another node may have it.
    case unavailable(String)
    /// Nobody can read it.
    case badInput(String)
}
