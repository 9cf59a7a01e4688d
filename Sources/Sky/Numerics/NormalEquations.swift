/// A linear least-squares problem, collected one measurement at a time.
struct NormalEquations {
    /// Number of unknowns.
    let count: Int
    /// The upper triangle of the normal matrix, row by row in a square.
    private var matrix: [Double]
    private var right: [Double]

    init(count: Int) {
        self.count = count
        matrix = [Double](repeating: 0, count: count * count)
        right = [Double](repeating: 0, count: count)
    }

    /// Adds the measurement `value` = sum of `row[i]` times unknown i, with a weight of one over its variance.
    mutating func add(_ row: ArraySlice<Double>, value: Double, weight: Double) {
        let count = min(row.count, count)
        let size = self.count
        matrix.withUnsafeMutableBufferPointer { matrix in
            right.withUnsafeMutableBufferPointer { right in
                row.withUnsafeBufferPointer { row in
                    for i in 0..<count {
                        let weighted = weight * row[i]
                        right[i] += weighted * value
                        for j in i..<count { matrix[i * size + j] += weighted * row[j] }
                    }
                }
            }
        }
    }

    /// Adds the measurements of another problem with the same unknowns.
    mutating func add(_ other: NormalEquations) {
        guard other.count == count else { return }
        for index in matrix.indices { matrix[index] += other.matrix[index] }
        for index in right.indices { right[index] += other.right[index] }
    }

    /// The unknowns, by Cholesky's decomposition (Golub and Van Loan, Matrix Computations, section 4.2); `nil` if the
    /// measurements do not determine them.
    ///
    /// - Parameter ridge: The share of each diagonal element that is added to it. It keeps unknowns with nearly the same
    ///   effect from growing against each other.
    func solved(ridge: Double = 0) -> [Double]? {
        var lower = [Double](repeating: 0, count: count * count)
        for i in 0..<count {
            for j in 0...i {
                var sum = matrix[j * count + i]
                if i == j { sum *= 1 + ridge }
                for k in 0..<j { sum -= lower[i * count + k] * lower[j * count + k] }
                if i == j {
                    // Rounding leaves only such a small sum for a dependent column.
                    guard sum > 1e-13 * matrix[i * count + i], sum.isFinite else { return nil }
                    lower[i * count + i] = sum.squareRoot()
                } else {
                    lower[i * count + j] = sum / lower[j * count + j]
                }
            }
        }
        var unknowns = right
        for i in 0..<count {
            for k in 0..<i { unknowns[i] -= lower[i * count + k] * unknowns[k] }
            unknowns[i] /= lower[i * count + i]
        }
        for i in (0..<count).reversed() {
            for k in (i + 1)..<max(count, i + 1) { unknowns[i] -= lower[k * count + i] * unknowns[k] }
            unknowns[i] /= lower[i * count + i]
        }
        return unknowns.allSatisfy(\.isFinite) ? unknowns : nil
    }
}
