/// The splines along up to eight lines of pixels that lie one below the other, between the same two rows of nodes.
struct SplineLines {
    /// The level in each of the lines, for each column of nodes.
    let nodes: [SIMD8<Float>]
    /// The second derivatives along x, over six.
    let slopes: [SIMD8<Float>]
    /// The number of lines.
    var count = SplineLines.limit

    /// The largest number of lines.
    static let limit = 8

    /// The background in line `lane` at a place between two nodes.
    func level(at place: (node: Int, offset: Float), lane: Int) -> Float {
        guard nodes.count > 1 else { return nodes[0][lane] }
        let (dx, low) = (place.offset, place.node)
        let cdx = 1 - dx
        return cdx * (nodes[low][lane] + (cdx * cdx - 1) * slopes[low][lane])
            + dx * (nodes[low + 1][lane] + (dx * dx - 1) * slopes[low + 1][lane])
    }
}
