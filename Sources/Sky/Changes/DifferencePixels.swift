/// The difference of two images in a sector's core, in the form in which changes are searched.
public struct DifferencePixels: Hashable, Codable, Sendable {
    package let core: PixelRect
    /// New less old, in units of the new image; NaN where one of the two has no pixels.
    package let difference: PackedFloats
    /// Its error (1 sigma).
    package let noise: PackedFloats

    /// - Parameter core: The core of the sector, in the new image.
    init(_ image: DifferenceImage, core: PixelRect) {
        self.core = core
        let rect = image.frame.rect
        var (difference, noise): ([Float], [Float]) = ([], [])
        difference.reserveCapacity(core.area)
        noise.reserveCapacity(core.area)
        for y in core.y - rect.y..<core.bottom - rect.y {
            for x in core.x - rect.x..<core.right - rect.x {
                let index = y * rect.width + x
                guard !image.frame.mask[index].contains(.missing) else {
                    difference.append(.nan)
                    noise.append(.nan)
                    continue
                }
                difference.append(image.difference.values[index] - image.noise.level(x: x, y: y))
                noise.append(Float(image.error(x: x, y: y)))
            }
        }
        (self.difference, self.noise) = (PackedFloats(difference), PackedFloats(noise))
    }

    /// About how much memory the values take.
    package var byteCount: Int { 4 * (difference.count + noise.count) }

    /// Whether the values are those of all pixels of `core`.
    package func isSound(of core: PixelRect) -> Bool {
        self.core == core && difference.count == core.area && noise.count == core.area
    }
}
