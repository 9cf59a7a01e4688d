import Glibc

/// How far the noise of a source's pixels carries over to its isophotal flux and to its barycentre (SExtractor's manual,
/// "Isophotal flux" and "Position errors").
struct IsophotalErrors {
    /// The 1-sigma error of the flux, in units of the image.
    let flux: Double
    /// The variances and the covariance of the barycentre, in square pixels.
    let position: (xx: Double, yy: Double, xy: Double)

    /// The second moment of a pixel over which light is spread evenly.
    private static let pixelMoment = 1 / 12.0

    /// - Parameters:
    ///   - flux: The isophotal flux, which gives the number of photons.
    ///   - footprint: The source's pixels.
    ///   - view: The pixels that the footprint indexes, `width` in a row.
    ///   - filtered: The filtered pixels; the barycentre is their mean.
    ///   - noise: The noise of every pixel (1 sigma), if the view does not give each pixel its own.
    ///   - noiseSeen: The noise of every pixel of the detection image, if there is one; the filtered light is that image's
    ///     then.
    ///   - gain: Electrons per unit of the image; 0 if it is not known.
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
            // If the noise differs from pixel to pixel, the barycentre is that of pixels scaled to the same noise.
            let scale = sigma > 0 && noiseSeen == nil ? noise / sigma : 1
            // The photons are those of the filtered light, as in SExtractor.
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
        // Pixels in one line, or a single pixel, have no extent across the line. The extent is then at least that of one pixel.
        if xx * yy - xy * xy < sum * sum { (xx, yy) = (xx + sum, yy + sum) }
        position = (xx, yy, xy)
    }
}

extension FurtherMeasurements {
    /// The ellipse of the barycentre's error: the rms along its axes in pixels, and the angle of the major axis in degrees from
    /// x towards y. `nil` if it was not measured.
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
