import Glibc

/// What the noise of a source's pixels makes of its isophotal flux and of its barycentre (SExtractor's manual, "Isophotal flux"
/// and "Position errors").
struct IsophotalErrors {
    /// 1 sigma, in units of the image.
    let flux: Double
    /// Of the barycentre, in square pixels.
    let position: (xx: Double, yy: Double, xy: Double)

    /// Second moment of a pixel that light is spread over evenly.
    private static let pixelMoment = 1 / 12.0

    /// - Parameters:
    ///   - flux: The isophotal flux, whose photons are counted.
    ///   - footprint: The source's pixels.
    ///   - view: The pixels that they index, `width` in a row.
    ///   - filtered: What the barycentre is the mean of.
    ///   - noise: Of every pixel (1 sigma), where the view does not say each one's.
    ///   - noiseSeen: Of every pixel of the image in which the source was found, where that is another one; the filtered light is
    ///     that image's.
    ///   - gain: Electrons per unit of the image; 0 where that is not known.
    init(
        of object: Detection, flux total: Double, footprint: ArraySlice<Int32>, view: SectorPixels.View,
        filtered: UnsafePointer<Float>, width: Int,
        noise: Double, noiseSeen: Double? = nil, gain: Double
    ) {
        let noiseOfPlace = noiseSeen ?? noise
        var (variance, light) = (0.0, 0.0)
        var (sum, xx, yy, xy) = (0.0, 0.0, 0.0, 0.0)
        for pixel in footprint {
            let index = Int(pixel)
            let sigma = view.sigmas.map { Double($0[index]) } ?? noise
            variance += sigma * sigma
            // Where noise differs, the barycentre is that of pixels scaled to the same noise.
            let scale = sigma > 0 && noiseSeen == nil ? noise / sigma : 1
            // Of the filtered light, as in SExtractor.
            let smooth = gain > 0 ? max(0, Double(filtered[index])) * scale / gain : 0
            let weight = noiseOfPlace * noiseOfPlace + smooth
            let dx = Double(index % width) - object.x
            let dy = Double(index / width) - object.y
            light += Double(filtered[index])
            sum += weight
            xx += weight * dx * dx
            yy += weight * dy * dy
            xy += weight * dx * dy
        }
        if gain > 0 { variance += max(0, total) / gain }
        flux = variance.squareRoot()
        guard light > 0 else {
            position = (0, 0, 0)
            return
        }
        let square = light * light
        (sum, xx, yy, xy) = (Self.pixelMoment * sum / square, xx / square, yy / square, xy / square)
        // Pixels in one line, or a single one, have no extent across it; a pixel's own is the least.
        if xx * yy - xy * xy < sum * sum { (xx, yy) = (xx + sum, yy + sum) }
        position = (xx, yy, xy)
    }
}

extension FurtherMeasurements {
    /// The ellipse of the barycentre's error: rms along its axes in pixels and the angle of the major one in degrees from x
    /// towards y; `nil` where it was not measured.
    package var positionError: (a: Double, b: Double, theta: Double)? {
        let (xx, yy, xy) = positionVariance
        guard xx + yy > 0, (xx + yy + xy).isFinite else { return nil }
        let (mean, half) = ((xx + yy) / 2, (xx - yy) / 2)
        let root = (half * half + xy * xy).squareRoot()
        return (
            (mean + root).squareRoot(), max(0, mean - root).squareRoot(), atan2(2 * xy, xx - yy) / 2 * 180 / .pi
        )
    }
}
