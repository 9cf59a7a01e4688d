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
        /// What a task comes to that needs the file itself, and not only pixels: an encoded `SkyWork`. The part is a `SkyResult`.
        case result(of: ByteBuffer)
    }

    package var file: PixelFile
    package var part: Part
    /// The node that has the file; `nil` if the node that gets the request has it itself.
    package var holder: PixelHolder?

    init(file: PixelFile, part: Part, holder: PixelHolder? = nil) {
        (self.file, self.part, self.holder) = (file, part, holder)
    }

    /// Why the request must be refused, as something that a peer sent; `nil` if nothing is wrong. It is checked before
    /// anything is done for the request.
    package var objection: String? {
        if let objection = file.objection { return objection }
        if let holder, !Hello.isValidName(holder.name) {
            return "a node's name is 1 to \(Hello.nameLimit) printable bytes"
        }
        switch part {
        case .header: return nil
        case .tile(let tile):
            let places = 0..<PixelTiles.countLimit
            return places.contains(tile.column) && places.contains(tile.row) ? nil : "no image has such a tile"
        case .result(let bytes):
            guard let work = PixelRequest.work(bytes), let (image, _) = work.ofFile else {
                return "no such work is done"
            }
            return image.path == file.path && image.content == file.content ? nil : "the work is on another file"
        }
    }

    /// The work that a part is the result of; `nil` if it is none.
    static func work(_ bytes: ByteBuffer) -> SkyWork? {
        guard let work = try? WireCoder.decode(SkyWork.self, from: bytes), (try? work.check()) != nil else {
            return nil
        }
        return work
    }

    /// Asks the node that has a file to do work that needs the file itself; `nil` where the work can be done with pixels, or where
    /// no such node is known.
    init?(_ work: SkyWork) {
        guard let (image, plain) = work.ofFile, let content = image.content, let holder = image.holder,
            let bytes = try? WireCoder.encode(plain)
        else { return nil }
        self.init(
            file: PixelFile(path: image.path, content: content, hdu: image.hdu, layer: image.layer),
            part: .result(of: bytes), holder: holder)
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

extension SkyWork {
    /// The image of work that needs the file itself, and the same work for the node that has it; `nil` for other work.
    fileprivate var ofFile: (image: ImageReference, work: SkyWork)? {
        switch self {
        case .inspect(var image, let withContent):
            let asked = image
            image.holder = nil
            return (asked, .inspect(image, withContent: withContent))
        case .preview(var image, let side, let encodes):
            let asked = image
            image.holder = nil
            return (asked, .preview(image, maximumSide: side, encodes: encodes))
        case .background, .seeing, .extract, .join: return nil
        }
    }
}
