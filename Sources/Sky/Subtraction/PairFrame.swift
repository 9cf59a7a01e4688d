import Base

/// The same rectangle of sky in both images: the new one as it is, and the old one resampled onto its pixels. Both are above
/// their backgrounds.
package struct PairFrame {
    /// The rectangle in the new image.
    package let rect: PixelRect
    package var new: PixelArray
    package var old: PixelArray
    /// What is wrong with each pixel in one image or the other.
    var mask: [PixelMask]
    /// The same for each image alone.
    var newMask: [PixelMask]
    private(set) var oldMask: [PixelMask]
    /// The original values of sharp pixels of the new image, by their index.
    var sharp: [Int: Float]
    /// The light that was taken out of the old image's sharp pixels, in a rectangle of its own; empty if there are none.
    private var excess: [Float] = []
    private let oldRect: PixelRect
    private let alignment: EpochAlignment

    /// The distance of the places between which the map is followed by straight lines. The error is below a ten-thousandth of a
    /// pixel.
    private static let lattice = 16

    /// Reads both images; `nil` if the old image has no part of the rectangle.
    ///
    /// - Parameter isClean: Whether pixels that are sharper than stars are replaced.
    init?(
        rect: PixelRect, new: EpochImage, old: EpochImage, order: DifferenceOrder, lanczos: LanczosFilter,
        isClean: Bool = true
    ) throws(SkyError) {
        let rim = LanczosFilter.taps
        guard new.info.contains(rect), let oldRect = order.alignment.oldRect(of: rect, rim: rim, info: old.info) else {
            return nil
        }
        let (news, newMask, sharp) = try new.read(
            rect, saturation: order.newSaturation, seeing: isClean ? order.newSeeing : nil, gain: order.gain)
        let (olds, oldMask, oldSharp) = try old.read(
            oldRect, saturation: order.oldSaturation, seeing: isClean ? order.oldSeeing : nil, gain: order.gain)
        self.rect = rect
        self.new = PixelArray(width: rect.width, height: rect.height, values: news)
        self.old = PixelArray(width: rect.width, height: rect.height, values: [])
        self.sharp = Dictionary(sharp.map { ($0.index, $0.value) }) { one, _ in one }
        (self.oldRect, alignment) = (oldRect, order.alignment)
        if !oldSharp.isEmpty {
            excess = [Float](repeating: 0, count: oldRect.area)
            for pixel in oldSharp { excess[pixel.index] = pixel.value - olds[pixel.index] }
        }
        mask = newMask
        self.newMask = newMask
        self.oldMask = []
        resample(olds, Self.spread(oldMask, width: oldRect.width), rect: oldRect, order.alignment, lanczos)
        for index in mask.indices { mask[index].formUnion(self.oldMask[index]) }
        for index in mask.indices where mask[index].contains(.missing) {
            // Both images are empty at the same places; otherwise the sum over a kernel would see a difference.
            self.new.values[index] = 0
            self.old.values[index] = 0
        }
    }

    /// The new image with the original values of its sharp pixels.
    var rawNew: PixelArray {
        var raw = new
        for (index, value) in sharp where !mask[index].contains(.missing) { raw.values[index] = value }
        return raw
    }

    /// The values of both images at a pixel, with the light that was taken out of sharp pixels.
    func raw(x: Int, y: Int, lanczos: LanczosFilter) -> (new: Float, old: Float) {
        let index = y * rect.width + x
        let value = sharp[index] ?? new.values[index]
        guard !excess.isEmpty else { return (value, old.values[index]) }
        let place = alignment.old(x: Double(rect.x + x), y: Double(rect.y + y))
        let more = excess.withUnsafeBufferPointer { excess in
            excess.baseAddress.flatMap {
                lanczos.value(
                    of: $0, width: oldRect.width, height: oldRect.height, x: place.x - Double(oldRect.x),
                    y: place.y - Double(oldRect.y))
            }
        }
        return (value, old.values[index] + (more ?? 0))
    }

    /// The mask for interpolated values: whether a bad pixel is among those that make up a value. Empty if no pixel is bad.
    private static func spread(_ mask: [PixelMask], width: Int) -> [PixelMask] {
        guard mask.contains(where: { !$0.isEmpty }) else { return [] }
        var result = mask
        let height = mask.count / width
        for index in mask.indices where !mask[index].isEmpty {
            let (x, y) = (index % width, index / width)
            // The replacement of a sharp pixel has only a small error, so only the two nearest places get much of it.
            let (before, after) = mask[index].isDisjoint(with: .blocking) ? (1, 0) : (3, 2)
            for row in max(0, y - before)...min(height - 1, y + after) {
                for column in max(0, x - before)...min(width - 1, x + after) {
                    result[row * width + column].formUnion(mask[index])
                }
            }
        }
        return result
    }

    private mutating func resample(
        _ olds: [Float], _ bad: [PixelMask], rect source: PixelRect, _ alignment: EpochAlignment,
        _ lanczos: LanczosFilter
    ) {
        let (width, height) = (rect.width, rect.height)
        let step = Self.lattice
        let nodes = (width - 1) / step + 2
        func line(_ y: Int) -> [(x: Double, y: Double)] {
            (0..<nodes).map { node in
                let place = alignment.old(x: Double(rect.x + node * step), y: Double(rect.y + y))
                return (place.x - Double(source.x), place.y - Double(source.y))
            }
        }
        // Filled outside of the frame: each pixel would ask whether anybody else holds its planes.
        var values = [Float](repeating: 0, count: rect.area)
        var masks = [PixelMask](repeating: [], count: rect.area)
        olds.withUnsafeBufferPointer { olds in
            values.withUnsafeMutableBufferPointer { values in
                masks.withUnsafeMutableBufferPointer { masks in
                    guard let pixels = olds.baseAddress else { return }
                    var above = line(0)
                    var below = line(step)
                    for y in 0..<height {
                        let part = y % step
                        if part == 0, y > 0 {
                            above = below
                            below = line(y + step)
                        }
                        let share = Double(part) / Double(step)
                        for node in 0..<(nodes - 1) {
                            let left = Self.mix(above[node], below[node], share)
                            let right = Self.mix(above[node + 1], below[node + 1], share)
                            let (dx, dy) = ((right.x - left.x) / Double(step), (right.y - left.y) / Double(step))
                            for column in 0..<max(min(step, width - node * step), 0) {
                                let (px, py) = (left.x + dx * Double(column), left.y + dy * Double(column))
                                let index = y * width + node * step + column
                                guard
                                    let value = lanczos.value(
                                        of: pixels, width: source.width, height: source.height, x: px, y: py)
                                else {
                                    masks[index] = .missing
                                    continue
                                }
                                values[index] = value
                                if !bad.isEmpty { masks[index] = bad[Int(py) * source.width + Int(px)] }
                            }
                        }
                    }
                }
            }
        }
        old.values = values
        oldMask = masks
    }

    private static func mix(
        _ a: (x: Double, y: Double), _ b: (x: Double, y: Double), _ share: Double
    ) -> (x: Double, y: Double) {
        (a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share)
    }
}
