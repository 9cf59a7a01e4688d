import Base

/// The pixels of a sector's core as a scan saw them.
package struct SectorCheckPixels: Hashable, Codable, Sendable {
    package var core: PixelRect
    /// The pixels without the sky, NaN where there is no data; `nil` if the request does not ask for them.
    package var subtracted: PackedFloats?
    /// The pixels that are compared with the threshold.
    package var filtered: PackedFloats?

    init(core: PixelRect) { self.core = core }

    /// Whether these are the pixels of `core`, with all the data that the request asks for and nothing else.
    package func isSound(of core: PixelRect, _ parts: CheckParts) -> Bool {
        self.core == core
            && [(subtracted, CheckParts.subtracted), (filtered, .filtered)].allSatisfy { plane, part in
                plane?.count == (parts.contains(part) ? core.area : nil)
            }
    }
}

extension SectorCheckPixels {
    /// Reads and filters the pixels of `core`, with the rim around it that the filter needs.
    init(
        _ core: PixelRect, of image: ScanImage, background: BackgroundMap, configuration: ScanConfiguration,
        parts: CheckParts
    ) throws(SkyError) {
        self.init(core: core)
        let kernel = DetectionKernel(configuration.filter)
        let rect = core.grown(by: kernel.radius, width: image.info.width, height: image.info.height)
        let pixels = SectorPixels(try image.read(rect), rect: rect, background: background, saturation: nil)
        (subtracted, filtered) = try pixels.withPointers { view throws(SkyError) in
            var planes: (subtracted: PackedFloats?, filtered: PackedFloats?) = (nil, nil)
            let (left, lines) = (core.x - rect.x, core.y - rect.y..<core.bottom - rect.y)
            if parts.contains(.subtracted) {
                var values: [Float] = []
                values.reserveCapacity(core.area)
                for y in lines {
                    for index in y * rect.width + left..<y * rect.width + left + core.width {
                        values.append(view.mask[index] != 0 ? .nan : view.values[index])
                    }
                }
                planes.subtracted = PackedFloats(values)
            }
            if parts.contains(.filtered) {
                let filter = PixelFilter(view.detection, width: rect.width, height: rect.height, kernel: kernel)
                let values = [Float](unsafeUninitializedCapacity: core.area) { buffer, count in
                    guard let base = buffer.baseAddress else { return }
                    for (row, y) in lines.enumerated() {
                        filter.run(y, left..<left + core.width, into: base + row * core.width)
                    }
                    count = core.area
                }
                planes.filtered = PackedFloats(values)
            }
            return planes
        }
    }
}
