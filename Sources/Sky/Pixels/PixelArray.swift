import Glibc

/// Values of a rectangle of pixels, row by row.
package struct PixelArray {
    package let width: Int
    package let height: Int
    package var values: [Float]

    init(width: Int, height: Int, values: [Float]) {
        (self.width, self.height, self.values) = (width, height, values)
    }

    init(width: Int, height: Int) {
        self.init(width: width, height: height, values: [Float](repeating: 0, count: width * height))
    }

    /// The values of a rectangle inside.
    package func part(_ rect: PixelRect) -> PixelArray {
        PixelArray(width: rect.width, height: rect.height, values: values.part(rect, width: width))
    }

    /// Combines each pixel with the pixel of another plane of the same size at its place.
    @inline(__always)
    func combined(with other: PixelArray, _ value: (Float, Float) -> Float) -> PixelArray {
        let count = min(values.count, other.values.count)
        let combined = [Float](unsafeUninitializedCapacity: count) { result, initialized in
            values.withUnsafeBufferPointer { first in
                other.values.withUnsafeBufferPointer { second in
                    for index in 0..<count { result[index] = value(first[index], second[index]) }
                }
            }
            initialized = count
        }
        return PixelArray(width: width, height: height, values: combined)
    }

    /// The plane smoothed with a kernel of `2 * radius + 1` columns and rows, zero beyond its edges: the sum over the kernel's
    /// places (i, j) of `kernel[j][i]` times the value at (x - i, y - j).
    func convolved(with kernel: [Float], radius: Int) -> PixelArray {
        let side = 2 * radius + 1
        guard kernel.count == side * side, radius >= 0, width > 0, height > 0 else { return self }
        // The kernel is reversed, so that both run forwards, and filled up to blocks of four weights.
        let blocks = (side + 3) / 4
        var taps = [Float](repeating: 0, count: side * blocks * 4)
        for j in 0..<side {
            for i in 0..<side { taps[j * blocks * 4 + i] = kernel[(side - 1 - j) * side + side - 1 - i] }
        }
        let stride = width + 2 * radius + 4
        var padded = [Float](repeating: 0, count: stride * (height + 2 * radius))
        for y in 0..<height {
            for x in 0..<width { padded[(y + radius) * stride + x + radius] = values[y * width + x] }
        }
        var result = PixelArray(width: width, height: height)
        let width = width
        let height = height
        result.values.withUnsafeMutableBufferPointer { output in
            padded.withUnsafeBufferPointer { input in
                taps.withUnsafeBufferPointer { taps in
                    guard let output = output.baseAddress, let input = input.baseAddress else { return }
                    for y in 0..<height {
                        let target = output + y * width
                        for j in 0..<side {
                            let line = input + (y + j) * stride
                            for block in 0..<blocks {
                                let at = (j * blocks + block) * 4
                                let (a, b, c, d) = (taps[at], taps[at + 1], taps[at + 2], taps[at + 3])
                                let source = line + 4 * block
                                for x in 0..<width {
                                    target[x] +=
                                        a * source[x] + b * source[x + 1] + c * source[x + 2] + d * source[x + 3]
                                }
                            }
                        }
                    }
                }
            }
        }
        return result
    }

    /// The pixels smoothed with a normed Gaussian, with zeros beyond the edges.
    ///
    /// - Parameter sigma: The sigma of the Gaussian in pixels.
    func smoothed(sigma: Double) -> PixelArray {
        let weights = Gaussian.weights(sigma: sigma)
        return lines(weights, step: 1, along: width, across: height, jump: width)
            .lines(weights, step: width, along: height, across: width, jump: 1)
    }

    /// Filters along one direction of a separable filter.
    private func lines(_ weights: [Float], step: Int, along: Int, across: Int, jump: Int) -> PixelArray {
        var result = PixelArray(width: width, height: height)
        let radius = weights.count / 2
        result.values.withUnsafeMutableBufferPointer { output in
            values.withUnsafeBufferPointer { input in
                guard let output = output.baseAddress, let input = input.baseAddress else { return }
                for tap in -radius...radius {
                    let weight = weights[tap + radius]
                    let range = max(0, -tap)..<max(min(along, along - tap), max(0, -tap))
                    if step == 1 {
                        for line in 0..<across {
                            let (target, source) = (output + line * jump, input + line * jump + tap)
                            for place in range { target[place] += weight * source[place] }
                        }
                    } else {
                        for place in range {
                            let (target, source) = (output + place * step, input + (place + tap) * step)
                            for line in 0..<across { target[line] += weight * source[line] }
                        }
                    }
                }
            }
        }
        return result
    }
}

/// The normal distribution as a filter.
package enum Gaussian {
    /// Full width at half maximum of sigma 1: 2 sqrt(2 ln 2).
    package static let fwhm = 2.354_820_045

    /// Weights out to four sigma, with a sum of one.
    static func weights(sigma: Double) -> [Float] {
        let sigma = max(sigma, 0.1)
        let radius = min(Int((4 * sigma).rounded(.up)), 100)
        let values = (-radius...radius).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let sum = values.reduce(0, +)
        return values.map { Float($0 / sum) }
    }
}

extension Array {
    /// The elements of a rectangle, row by row, of an array with an element for each pixel of `width` columns.
    package func part(_ rect: PixelRect, width: Int) -> [Element] {
        var part: [Element] = []
        part.reserveCapacity(rect.area)
        for y in rect.y..<rect.bottom { part += self[y * width + rect.x..<y * width + rect.right] }
        return part
    }
}
