/// A source between its measurement and the result of its scan.
package struct MeasuredSource {
    package var source: Source
    /// What CLEAN needs; `nil` if CLEAN is off.
    package var profile: CleanProfile?
    /// The source's pixels, if the request asks for them.
    package var footprint: Footprint?
    /// Whether all pixels that the measurements need were in the rectangle.
    package var isWhole: Bool
    /// The box of the whole footprint, if the rectangle's edge cuts it off and the source is only a piece.
    var cutFrom: PixelRect?
}

extension WCSTransform {
    /// Gives sources their coordinates in the sky.
    package func place(_ measured: inout [MeasuredSource]) {
        let places = sky(
            measured.flatMap { [($0.source.x, $0.source.y), ($0.source.xWindow, $0.source.yWindow)] })
        for index in measured.indices {
            let (place, window) = (places[2 * index], places[2 * index + 1])
            (measured[index].source.alpha, measured[index].source.delta) = (place?.alpha, place?.delta)
            (measured[index].source.alphaWindow, measured[index].source.deltaWindow) = (window?.alpha, window?.delta)
        }
    }
}
