import Base

/// The pixels of a rectangle in the form that a scan needs: without the background, and without holes.
struct SectorPixels {
    private var values: [Float]
    /// A pixel without data has a 1.
    private let mask: [UInt8]
    /// The noise of each pixel, if there is a noise image.
    private var sigmas: [Float]?
    /// The brightness that each pixel would have if all had the same noise; empty if they have.
    private var even: [Float] = []
    /// Whether each pixel is at the saturation level or above; empty if none is.
    let saturated: [Bool]

    /// - Parameters:
    ///   - read: The rectangle's pixels as they are in the file.
    ///   - saturation: The level in units of the image; `nil` for none.
    init(_ read: consuming ScanImage.Pixels, rect: PixelRect, background: BackgroundMap, saturation: Double?) {
        var pixels = read.values
        // The copy is released, so that the values are not in memory twice.
        read.values = []
        saturated = saturation.map { Self.saturated(pixels, from: $0) } ?? []
        background.subtract(from: &pixels, rect: rect)
        let mask = pixels.missing
        // The sky's level is the best estimate for a missing pixel, and the one that SEP uses.
        pixels.withUnsafeMutableBufferPointer { pixels in
            for index in pixels.indices { pixels[index] = pixels[index].isNaN ? 0 : pixels[index] }
        }
        (values, self.mask) = (pixels, mask)
        guard let sigmas = read.sigmas else { return }
        // A missing pixel has no noise of its own either; the image's noise is the best estimate.
        let scaled = zip(sigmas, mask).map { $1 != 0 ? background.globalRMS : $0 * background.noiseScale }
        self.sigmas = scaled
        // With a noise image, SEP's own detection would take an object's threshold from the last pixel that happened to close
        // it.
        even = zip(values, scaled).map { $0 / $1 * background.globalRMS }
        for index in even.indices where !even[index].isFinite { even[index] = 0 }
    }

    /// Nearly all images have a saturation level by their headers, and in nearly all rectangles no pixel reaches it.
    private static func saturated(_ pixels: [Float], from level: Double) -> [Bool] {
        // The limit is the smallest 32-bit float that is not below the level.
        let rounded = Float(level)
        let limit = Double(rounded) < level ? rounded.nextUp : rounded
        return pixels.withUnsafeBufferPointer { pixels in
            guard let start = pixels.baseAddress, isAny(start, count: pixels.count, from: limit) else { return [] }
            return [Bool](unsafeUninitializedCapacity: pixels.count) { saturated, count in
                for index in pixels.indices { saturated[index] = pixels[index] >= limit }
                count = pixels.count
            }
        }
    }

    /// Whether any of the pixels reaches a level.
    private static func isAny(_ pixels: UnsafePointer<Float>, count: Int, from limit: Float) -> Bool {
        // The processor compares several pixels at a time, without a branch for each.
        let bytes = UnsafeRawPointer(pixels)
        var found = SIMDMask<SIMD8<Int32>>(repeating: false)
        let whole = count / 8
        for index in 0..<whole {
            found .|= bytes.loadUnaligned(fromByteOffset: 32 * index, as: SIMD8<Float>.self) .>= limit
        }
        return any(found) || (whole * 8..<count).contains { pixels[$0] >= limit }
    }

    /// Pointers to the pixels. They are valid only while a closure runs.
    struct View {
        let values: UnsafePointer<Float>
        let mask: UnsafePointer<UInt8>
        let sigmas: UnsafePointer<Float>?
        /// The pixels in which sources are detected.
        let detection: UnsafePointer<Float>
    }

    func withPointers<Result>(_ body: (View) throws(SkyError) -> Result) throws(SkyError) -> Result {
        try values.withUnsafeBufferPointer { values throws(SkyError) in
            try mask.withUnsafeBufferPointer { mask throws(SkyError) in
                try (sigmas ?? []).withUnsafeBufferPointer { sigmas throws(SkyError) in
                    try even.withUnsafeBufferPointer { even throws(SkyError) in
                        guard let pixels = values.baseAddress, let mask = mask.baseAddress else {
                            throw SkyError(.badInput, "a rectangle without pixels")
                        }
                        let hasNoise = !sigmas.isEmpty
                        return try body(
                            View(
                                values: pixels, mask: mask, sigmas: hasNoise ? sigmas.baseAddress : nil,
                                detection: hasNoise ? even.baseAddress ?? pixels : pixels))
                    }
                }
            }
        }
    }
}

extension [Float] {
    /// A mask in the form that SEP reads, with a 1 for each missing pixel.
    var missing: [UInt8] {
        withUnsafeBufferPointer { pixels in
            [UInt8](unsafeUninitializedCapacity: pixels.count) { mask, count in
                for index in pixels.indices { mask[index] = pixels[index].isNaN ? 1 : 0 }
                count = pixels.count
            }
        }
    }
}

extension SectorPixels.View {
    /// A detection with its fluxes and threshold in units of the image, if the detection used pixels in other units.
    func weighted(_ object: Detection, _ footprint: ArraySlice<Int32>, width: Int, noise: Float) -> Detection {
        guard let sigmas else { return object }
        var object = object
        var (flux, peak) = (0.0, -Float.infinity)
        for pixel in footprint {
            flux += Double(values[Int(pixel)])
            peak = max(peak, values[Int(pixel)])
        }
        (object.flux, object.peak) = (Float(flux), peak)
        let (x, y) = object.pixel
        let place = min(max(y, object.minY), object.maxY) * width + min(max(x, object.minX), object.maxX)
        object.threshold *= sigmas[place] / noise
        return object
    }
}
