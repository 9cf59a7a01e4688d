import Base

// These checks are for rectangles and files that another process names. No calculation with them may overflow.

extension PixelRect {
    /// The places and sizes that an image may have. FITS axes are counted in 32 bits here, so that the sum of a place, a size
    /// and a rim, and the product of two sizes, do not overflow.
    package static let limit = Int(Int32.max)

    package func validate() throws(SkyError) {
        let places = 0...PixelRect.limit
        try SkyError.unless(
            places.contains(x) && places.contains(y) && places.contains(width) && places.contains(height)
                && places.contains(right) && places.contains(bottom),
            "a rectangle that no image has")
    }
}

extension Sector {
    package func validate() throws(SkyError) {
        try core.validate()
        try padded.validate()
        try SkyError.unless(
            (0..<SectorGrid.sectorLimit).contains(index), "sectors are numbered from 0 to \(SectorGrid.sectorLimit - 1)"
        )
    }
}

extension SectorUnion {
    package func validate() throws(SkyError) {
        try rect.validate()
        for piece in pieces { try piece.validate() }
        for piece in taken { try piece.validate() }
        for part in parts {
            try part.core.validate()
            try part.rect.validate()
        }
    }
}

extension FileContent {
    package func validate() throws(SkyError) {
        if let objection { throw SkyError(.badInput, objection) }
    }
}
