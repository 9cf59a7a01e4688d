/// The sources around a place.
struct SourcesNearby {
    private let sources: [Source]
    private let radius: Double
    private var index: NeighbourIndex

    /// - Parameter radius: The radius in pixels.
    init(_ sources: [Source], _ radius: Double) {
        self.sources = sources
        self.radius = radius
        index = NeighbourIndex(cell: radius)
        for (number, source) in sources.enumerated() { index.add(number, (source.x, source.y)) }
    }

    /// The sources within the radius, the nearest first.
    func near(_ x: Double, _ y: Double) -> [Source] {
        func square(_ source: Source) -> Double {
            let (dx, dy) = (source.x - x, source.y - y)
            return dx * dx + dy * dy
        }
        return index.near((x, y)).map { sources[$0] }.filter { square($0) <= radius * radius }
            .sorted { square($0) < square($1) }
    }
}
