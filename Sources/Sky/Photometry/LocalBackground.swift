import CSEP

/// The background around one source: the level of the sky that is left in a rectangular annulus around the source's footprint,
/// by the same mode as that of a mesh (SExtractor's `BACKPHOTO_TYPE LOCAL`).
struct LocalBackground {
    /// The annulus lies between these rectangles. They are half open, in the rectangle that was searched.
    let (inner, outer): (PixelRect, PixelRect)
    /// Whether the annulus lies inside the image. Otherwise the source has the image's background alone, as in SExtractor.
    let isInImage: Bool
    /// The first line whose pixels belong to no source yet at the moment when SExtractor measures this source. SExtractor goes
    /// through an image line by line, and hides a line only after its filter has passed over it.
    let end: Int

    /// The level above the background that is subtracted already; 0 if there is none. The pixels of other sources in lines
    /// before `end` are left out. The light of the remaining ones changes it little, because it is a mode and not a mean.
    func level(_ photometer: Photometer, id: Int32) -> Double {
        let all = PixelRect(x: 0, y: 0, width: photometer.width, height: photometer.height)
        guard isInImage, all.contains(outer) else { return 0 }
        photometer.map.search(columns: outer.x..<outer.right, lines: outer.y..<outer.bottom)
        let segments = photometer.map.segments
        var values: [Float] = []
        values.reserveCapacity(outer.area - inner.area)
        func take(_ y: Int, _ columns: Range<Int>) {
            for index in y * photometer.width + columns.lowerBound..<y * photometer.width + columns.upperBound
            where photometer.mask[index] == 0 && (y >= end || segments[index] == 0 || segments[index] == id) {
                values.append(photometer.pixels[index])
            }
        }
        for y in outer.y..<outer.bottom {
            if (inner.y..<inner.bottom).contains(y) {
                take(y, outer.x..<inner.x)
                take(y, inner.right..<outer.right)
            } else {
                take(y, outer.x..<outer.right)
            }
        }
        return Self.mode(values)
    }

    /// The mode of a mesh that has these pixels.
    private static func mode(_ values: [Float]) -> Double {
        guard !values.isEmpty else { return 0 }
        var map: UnsafeMutablePointer<sep_bkg>?
        let status = values.withUnsafeBufferPointer { data in
            var image = sep_image()
            image.data = UnsafeRawPointer(data.baseAddress)
            image.dtype = SEP_TFLOAT
            image.w = Int32(data.count)
            image.h = 1
            return sep_background(&image, Int32(data.count), 1, 1, 1, 0, &map)
        }
        defer { sep_bkg_free(map) }
        guard status == 0, let map, let level = map.pointee.back?.pointee, level.isFinite else { return 0 }
        return Double(level)
    }
}
