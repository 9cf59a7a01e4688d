/// The histogram of a mesh's pixels, and its mode after clipping. One is used for many meshes, one after the other.
struct MeshHistogram {
    private var counts: [Int32]
    /// The number of bins that are in use.
    private var bins = 0
    /// The places of one row's pixels in the histogram.
    private var places: [Float]

    /// Clipping ends when the standard deviation changes by less than this part, or is less than a tenth of a bin; or after so many
    /// rounds.
    private static let convergence = 1e-4
    private static let smallestSigma = 0.1
    private static let mostRounds = 100

    /// - Parameters:
    ///   - bins: The largest number of bins.
    ///   - width: The largest number of pixels in a row of a mesh.
    init(bins: Int, width: Int) {
        counts = [Int32](repeating: 0, count: bins)
        places = [Float](repeating: 0, count: width)
    }

    /// Counts the pixels of a mesh.
    ///
    /// - Parameters:
    ///   - bins: The number of bins, 1 or more.
    ///   - zero: The value in the middle of the first bin.
    ///   - step: The width of a bin.
    mutating func fill(
        _ pixels: UnsafePointer<Float>, width: Int, rows: Int, stride: Int, bins: Int, zero: Float, step: Float
    ) {
        self.bins = bins
        let limit = Float(bins)
        let shift = Float(0.499999 - Double(zero / step))
        counts.withUnsafeMutableBufferPointer { counts in
            places.withUnsafeMutableBufferPointer { places in
                guard let counts = counts.baseAddress, let places = places.baseAddress else { return }
                counts.update(repeating: 0, count: bins)
                for row in 0..<rows {
                    let line = pixels + row * stride
                    // The processor divides several pixels at a time.
                    for column in 0..<width { places[column] = line[column] / step + shift }
                    for column in 0..<width {
                        let place = places[column]
                        // As in C, the whole number between -1 and 0 is 0. A comparison with NaN is false.
                        guard place > -1, place < limit else { continue }
                        counts[Int(place)] &+= 1
                    }
                }
            }
        }
    }

    /// The mode and the standard deviation after clipping, in bins from the middle of the first one.
    ///
    /// - Parameter mean: The mean of the pixels in units of the image, which SEP takes for mean and median where the histogram has
    ///   only one bin.
    func mode(mean: Double) -> (mode: Double, sigma: Double) {
        counts.withUnsafeBufferPointer { counts in
            let last = bins - 1
            var range = Range(counts, through: last)
            var (sigma, before) = (10 * Double(last), 1.0)
            var (mean, median) = (mean, mean)
            for _ in 0..<Self.mostRounds where sigma >= Self.smallestSigma {
                guard abs(sigma / before - 1) > Self.convergence else { break }
                before = sigma
                median = range.median(counts)
                let count = Double(range.count)
                (mean, sigma) = (Double(range.first), Double(range.second))
                if range.count != 0 {
                    mean /= count
                    sigma = sigma / count - mean * mean
                }
                sigma = sigma > 0 ? sigma.squareRoot() : 0
                // The median lies between the limits, so that the lower one is never above the other.
                let (low, high) = (median - 3 * sigma, median + 3 * sigma)
                range.move(
                    to: low > 0 ? Int(low + 0.5) : 0, through: high < Double(last) ? max(Int(high + 0.5), 0) : last,
                    counts)
            }
            guard abs(sigma) > 0 else { return (mean, sigma) }
            return (abs((mean - median) / sigma) < 0.3 ? 2.5 * median - 1.5 * mean : median, sigma)
        }
    }
}

extension MeshHistogram {
    /// The bins between two limits, with their moments, as whole numbers: these are exact below 2^53, so that their order does not
    /// matter.
    private struct Range {
        private(set) var low = 0
        private(set) var high: Int
        /// The number of pixels; below, the sums of their bins and of the squares of these.
        private(set) var count = 0
        private(set) var first = 0
        private(set) var second = 0
        /// A bin, and the number of pixels between `low` and it; the search for the median goes on from there.
        private var middle = 0
        private var below = 0

        init(_ counts: UnsafeBufferPointer<Int32>, through high: Int) {
            self.high = high
            for bin in 0...high { add(bin, counts, 1) }
        }

        private mutating func add(_ bin: Int, _ counts: UnsafeBufferPointer<Int32>, _ sign: Int) {
            let pixels = Int(counts[bin]) &* sign
            count &+= pixels
            first &+= pixels &* bin
            second &+= pixels &* bin &* bin
        }

        mutating func move(to newLow: Int, through newHigh: Int, _ counts: UnsafeBufferPointer<Int32>) {
            while low > newLow {
                low -= 1
                add(low, counts, 1)
                below &+= Int(counts[low])
            }
            while high < newHigh {
                high += 1
                add(high, counts, 1)
            }
            while low < newLow {
                add(low, counts, -1)
                if low < middle { below &-= Int(counts[low]) }
                low += 1
            }
            if middle < low { (middle, below) = (low, 0) }
            while high > newHigh {
                add(high, counts, -1)
                if high < middle {
                    below &-= Int(counts[high])
                    middle = high
                }
                high -= 1
            }
        }

        /// The median as SEP finds it: it takes bins from both ends, from the end of which it has taken fewer pixels, until none is
        /// left. So the ends meet before the first bin for which the pixels below it and those up to it are as many as all.
        mutating func median(_ counts: UnsafeBufferPointer<Int32>) -> Double {
            while middle > low, 2 * below - Int(counts[middle - 1]) >= count {
                middle -= 1
                below &-= Int(counts[middle])
            }
            while middle < high, 2 * below + Int(counts[middle]) < count {
                below &+= Int(counts[middle])
                middle += 1
            }
            guard middle >= 1 else { return 0 }
            let larger = max(counts[middle], counts[middle - 1])
            return Double(middle - 1) + 0.5 + (Double(count - below) - Double(below)) / (2 * Double(larger))
        }
    }
}
