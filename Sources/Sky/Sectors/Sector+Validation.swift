import Base

// These checks are for sectors that another process names. No calculation with them may overflow.

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
