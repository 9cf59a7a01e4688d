import CSEP

/// SExtractor's `FLAGS`, bit by bit. SEP gives the same bits other meanings, so only this type may translate them.
struct SourceFlags: OptionSet {
    let rawValue: Int

    /// More than a tenth of the Kron ellipse, or of the ellipse in which its radius is taken, belongs to others or has no data.
    static let biased = SourceFlags(rawValue: 1)
    /// The source was split from a footprint that it shared.
    static let deblended = SourceFlags(rawValue: 2)
    /// A pixel of the footprint is saturated.
    static let saturated = SourceFlags(rawValue: 4)
    /// The footprint touches the image's edge.
    static let truncated = SourceFlags(rawValue: 8)
    /// A pixel that an aperture or a moment asks for lies beyond the image.
    static let apertureIncomplete = SourceFlags(rawValue: 16)

    /// The footprint has more branches than the deblending can tell apart, and is left in one piece.
    static let deblendingOverflow = SourceFlags(rawValue: 32)

    /// The flags that follow from a footprint's pixels, before anything is measured in apertures.
    static let ofFootprint: SourceFlags = [.saturated, .truncated, .deblendingOverflow]

    /// SExtractor's `CROWD_THRESHOLD`: the share of an aperture from which neighbours count as a bias.
    static let biasedShare = 0.1

    /// - Parameter touchesImageEdge: Whether the footprint has pixels in the image's outermost rows or columns. (SEP takes
    ///   the edge of every sector for the image's.) For a source that was split off, only the pixels by which it was found
    ///   above the light of the others count. SEP tells about these; the pixels that are cut out for such a source end where
    ///   the image does.
    init(detection flags: Int16, touchesImageEdge: Bool) {
        var result: SourceFlags = []
        let isSplit = flags & Int16(SEP_OBJ_MERGED) != 0
        if isSplit { result.insert(.deblended) }
        if touchesImageEdge, !isSplit || flags & Int16(SEP_OBJ_TRUNC) != 0 { result.insert(.truncated) }
        self = result
    }

    init(rawValue: Int) { self.rawValue = rawValue }
}
