/// Columns of pixels between the same two nodes of a spline. The values that the spline needs for a column are the same in
/// every line.
struct SplineRuns {
    /// Columns that have the same node to their left.
    private var runs: [(columns: Range<Int>, node: Int)] = []
    /// For each column, the distance from the left node and the distance to the right one, in meshes.
    private var offsets: [Float] = []
    private var rests: [Float] = []
    /// The squares of these, less 1.
    private var offsetFactors: [Float] = []
    private var restFactors: [Float] = []

    /// - Parameter places: For each column, its left node and the distance from there.
    init(_ places: [(node: Int, offset: Float)]) {
        offsets = places.map(\.offset)
        rests = offsets.map { 1 - $0 }
        offsetFactors = offsets.map { $0 * $0 - 1 }
        restFactors = rests.map { $0 * $0 - 1 }
        for (column, place) in places.enumerated() {
            if let last = runs.last, last.node == place.node {
                runs[runs.count - 1].columns = last.columns.lowerBound..<column + 1
            } else {
                runs.append((column..<column + 1, place.node))
            }
        }
    }

    /// Subtracts the spline of line `lane` from its pixels, with the operations of SEP in their order.
    func subtract(_ spline: SplineLines, lane: Int, from pixels: UnsafeMutableBufferPointer<Float>) {
        let (nodes, slopes) = (spline.nodes, spline.slopes)
        guard nodes.count > 1 else {
            for x in pixels.indices { pixels[x] -= nodes[0][lane] }
            return
        }
        offsets.withUnsafeBufferPointer { offsets in
            rests.withUnsafeBufferPointer { rests in
                offsetFactors.withUnsafeBufferPointer { offsetFactors in
                    restFactors.withUnsafeBufferPointer { restFactors in
                        for run in runs {
                            let (left, right) = (nodes[run.node][lane], nodes[run.node + 1][lane])
                            let (leftSlope, rightSlope) = (slopes[run.node][lane], slopes[run.node + 1][lane])
                            for x in run.columns {
                                pixels[x] -=
                                    rests[x] * (left + restFactors[x] * leftSlope)
                                    + offsets[x] * (right + offsetFactors[x] * rightSlope)
                            }
                        }
                    }
                }
            }
        }
    }
}
