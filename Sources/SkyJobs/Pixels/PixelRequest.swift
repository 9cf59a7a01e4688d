package import NIOCore
package import Sky
package import Transport

extension PixelHolder {
    /// A node that looked at a file.
    package init(node: NodeID, name: String) { self.init(node: node.rawValue, name: name) }

    /// The node that looked at the file.
    package var id: NodeID { NodeID(rawValue: node) }
}

/// Asks for a part of an image.
package struct PixelRequest: Hashable, Codable, Sendable {
    package enum Part: Hashable, Codable, Sendable {
        /// Everything but the pixels: `RemoteHeader`.
        case header
        /// A tile's pixels: `PackedPixels`.
        case tile(PixelTile)
    }

    package var file: PixelFile
    package var part: Part
    /// The node that has the file; `nil` if the node that gets the request has it itself.
    package var holder: PixelHolder?

    /// Why the request must be refused, as something that a peer sent; `nil` if nothing is wrong. It is checked before
    /// anything is done for the request.
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

/// The answer to a request for a part of an image.
package enum PixelReply: Codable, Sendable {
    case part(ByteBuffer)
    /// The part is not available here, but another node may have it.
    case unavailable(String)
    /// No node can read it.
    case badInput(String)
}
