extension BayerGrid {
    /// The source with its positions and lengths in pixels of the frame. Its area stays the number of its colour's pixels.
    public func inFrame(_ source: Source) -> Source {
        var source = source
        (source.x, source.y) = frame(x: source.x, y: source.y)
        (source.xWindow, source.yWindow) = frame(x: source.xWindow, y: source.yWindow)
        let step = Double(Self.step)
        source.a *= step
        source.b *= step
        source.fwhm *= step
        source.halfLightRadius *= step
        if let variance = source.further?.positionVariance {
            source.further?.positionVariance = (
                variance.xx * step * step, variance.yy * step * step, variance.xy * step * step
            )
        }
        return source
    }
}
