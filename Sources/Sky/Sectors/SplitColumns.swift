/// Rows of numbers, those columns apart of which single precision holds every number to the bit.
struct SplitColumns {
    /// The columns in single precision, in rising order.
    var places: [Int]
    /// Their numbers, row by row.
    var singles: [Float]
    /// The numbers of the other columns, row by row.
    var doubles: [Double]

    init(places: [Int], singles: [Float], doubles: [Double]) {
        (self.places, self.singles, self.doubles) = (places, singles, doubles)
    }

    /// - Parameters:
    ///   - numbers: whole rows.
    ///   - width: the numbers of a row.
    init(_ numbers: [Double], width: Int) {
        let rows = width > 0 ? numbers.count / width : 0
        var isSingle = [Bool](repeating: true, count: max(0, width))
        for row in 0..<rows {
            for column in 0..<width where isSingle[column] && !SplitColumns.isSingle(numbers[row * width + column]) {
                isSingle[column] = false
            }
        }
        places = isSingle.indices.filter { isSingle[$0] }
        (singles, doubles) = ([], [])
        singles.reserveCapacity(rows * places.count)
        doubles.reserveCapacity(numbers.count - rows * places.count)
        for row in 0..<rows {
            for column in 0..<width {
                let number = numbers[row * width + column]
                if isSingle[column] { singles.append(Float(number)) } else { doubles.append(number) }
            }
        }
    }

    private static func isSingle(_ number: Double) -> Bool { Double(Float(number)).bitPattern == number.bitPattern }

    /// The rows as they were; `nil` if there are no such rows.
    func rows(width: Int) -> [Double]? {
        // More columns than numbers make no row, and need not be told apart.
        guard width >= 0, places.count <= width, width <= singles.count + doubles.count || width == places.count,
            places.allSatisfy({ 0..<width ~= $0 }), zip(places, places.dropFirst()).allSatisfy(<)
        else { return nil }
        let others = width - places.count
        let rows = places.isEmpty ? (others > 0 ? doubles.count / others : 0) : singles.count / places.count
        guard singles.count == rows * places.count, doubles.count == rows * others else { return nil }
        var isSingle = [Bool](repeating: false, count: width)
        for place in places { isSingle[place] = true }
        var numbers: [Double] = []
        numbers.reserveCapacity(rows * width)
        var (single, double) = (0, 0)
        for _ in 0..<rows {
            for column in 0..<width {
                if isSingle[column] {
                    numbers.append(Double(singles[single]))
                    single += 1
                } else {
                    numbers.append(doubles[double])
                    double += 1
                }
            }
        }
        return numbers
    }
}
