/// A source on its way from a scan into its result.
package struct MeasuredSource {
    package var source: Source
    /// What CLEAN needs; `nil` where it is off.
    package var profile: CleanProfile?
    /// Its pixels, where these were asked for.
    package var footprint: Footprint?
    /// Whether all pixels that its measurements ask for were there.
    package var isWhole: Bool
    /// The box of the footprint that it is a piece of, where that is cut off by the rectangle's edge.
    var cutFrom: PixelRect?
}

extension WCSTransform {
    /// Gives sources their places in the sky.
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
