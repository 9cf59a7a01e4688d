import Foundation

extension OutputKind {
    /// The image with its sources, JPEG.
    package static let picture = OutputKind("picture") { start in
        start.bytes(0..<JPEGCodec.mark.count + 2).dropFirst(2).elementsEqual(JPEGCodec.mark) || start.isOnPage(".jpg")
    }

    /// The map of the sectors, PNG.
    package static let sectorMap = OutputKind("map of sectors") { start in
        let marked = PNGWriter.markPlace..<PNGWriter.markPlace + PNGWriter.mark.count
        return start.bytes(marked) == PNGWriter.mark || start.isOnPage(".sectors.png")
    }
}

extension FileStart {
    /// Whether it is shown on the page beside it. Version 0.2 did not mark its pictures.
    fileprivate func isOnPage(_ ending: String) -> Bool {
        guard name.hasSuffix(ending) else { return false }
        let page = name.dropLast(ending.count) + ".html"
        guard OutputKind.page.isMade(at: String(page)),
            let html = try? Data(contentsOf: URL(fileURLWithPath: String(page)), options: .mappedIfSafe)
        else { return false }
        // Of a multiple of three bytes the text is the same whatever follows.
        return html.range(of: Data(bytes(0..<3000)).prefix(3000).base64EncodedData()) != nil
    }
}
