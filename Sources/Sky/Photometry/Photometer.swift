import CSEP

/// Measures sources in one rectangle of background-subtracted pixels.
///
/// The caller owns the memory behind the pointers and keeps it alive.
struct Photometer {
    let pixels: UnsafePointer<Float>
    /// A pixel without data has a 1.
    let mask: UnsafePointer<UInt8>
    /// The pixels of the image in which sources are found, and the mask of those without data. The Kron radius is measured in
    /// them.
    let kron: (pixels: UnsafePointer<Float>, mask: UnsafePointer<UInt8>)
    /// The source that each pixel belongs to.
    let map: SegmentMap
    let width: Int
    let height: Int
    /// The 1-sigma noise of the background. The gain below is in electrons per unit of the image, 0 if it is unknown.
    let noise: Double
    /// The noise of each pixel, if it is known.
    var noises: UnsafePointer<Float>?
    let gain: Double
    let apertureRadii: [Double]
    /// The annulus in which the source's own background is measured; `nil` for none.
    var annulus: LocalBackground?

    /// Measures one source by SExtractor's recipe. The first moment is measured in an ellipse of six times the axes. The
    /// ellipse of `FLUX_AUTO` has 2.5 times that moment, but at least 3.5 axes. The pixels of other sources are replaced by
    /// those on the opposite side.
    ///
    /// Every number is finite; a value that cannot be measured is 0.
    func measure(_ object: Detection, _ ellipse: Ellipse, id: Int32) -> Photometry {
        var result = Photometry()
        var radius = max(Photometry.momentRadius * ellipse.a, apertureRadii.max() ?? 0)
        var surroundings = Surroundings(self, object, id: id, radius: radius)
        func reach(_ wanted: Double) {
            guard wanted > radius else { return }
            radius = wanted
            surroundings = Surroundings(self, object, id: id, radius: radius)
        }
        let moment = kronMoment(object, ellipse, id)
        result.kronRadius = min(
            max(Photometry.kronFactor * moment, Photometry.smallestKronRadius), Photometry.largestKronRadius)
        reach(result.kronRadius * ellipse.a)
        let level = annulus?.level(self, id: id) ?? 0
        result.localBackground = level
        withImage(surroundings, object) { image, x, y in
            measureAuto(image, x, y, ellipse, level, &result)
            result.halfLightRadius = halfLightRadius(image, x, y, ellipse, total: result.fluxAuto)
            for radius in apertureRadii { measureCircle(image, x, y, radius, level, &result) }
        }
        if isBiased(object, ellipse, kronRadius: result.kronRadius, id, hidden: surroundings.replaced) {
            result.flags.insert(.biased)
        }
        reach(Photometry.windowReach * result.halfLightRadius)
        result.window = windowedPosition(surroundings, object, halfLightRadius: result.halfLightRadius)
        return result
    }

    /// Measures the moment without the neighbours' pixels. They are left out here and not replaced, as in SExtractor.
    private func kronMoment(_ object: Detection, _ ellipse: Ellipse, _ id: Int32) -> Double {
        var image = image(kron.pixels, nil, width, height)
        image.mask = UnsafeRawPointer(kron.mask)
        image.mdtype = SEP_TBYTE
        image.segmap = UnsafeRawPointer(map.segments)
        image.sdtype = SEP_TINT
        var (moment, flag) = (0.0, Int16(0))
        let status = sep_kron_radius(
            &image, object.x, object.y, ellipse.cxx, ellipse.cyy, ellipse.cxy, Photometry.momentRadius, id, &moment,
            &flag)
        return status == 0 && moment.isFinite ? moment : 0
    }

    private func measureAuto(
        _ image: UnsafePointer<sep_image>, _ x: Double, _ y: Double, _ ellipse: Ellipse, _ level: Double,
        _ result: inout Photometry
    ) {
        var (sum, error, area, flag) = (0.0, 0.0, 0.0, Int16(0))
        let status = sep_sum_ellipse(
            image, x, y, ellipse.a, ellipse.b, ellipse.theta, result.kronRadius, 0, 1, 0, &sum, &error, &area, &flag)
        subtract(level, area, from: &sum, &error)
        if status == 0, sum.isFinite, error.isFinite { (result.fluxAuto, result.fluxErrorAuto) = (sum, error) }
    }

    private func halfLightRadius(
        _ image: UnsafePointer<sep_image>, _ x: Double, _ y: Double, _ ellipse: Ellipse, total: Double
    ) -> Double {
        guard total > 0 else { return 0 }
        // Half of the light almost always lies close to the centre. A search out to six axes at once, as SExtractor's, would
        // take half of the time of the whole scan.
        for reach in [2.5, Photometry.momentRadius] {
            let limit = reach * ellipse.a
            var (total, half, radius, flag) = (total, 0.5, 0.0, Int16(0))
            let status = sep_flux_radius(image, x, y, limit, 0, 5, 0, &total, &half, 1, &radius, &flag)
            guard status == 0, radius.isFinite else { return 0 }
            // SEP returns the limit itself if it did not reach half of the light.
            if radius < limit || reach == Photometry.momentRadius { return radius }
        }
        return 0
    }

    private func measureCircle(
        _ image: UnsafePointer<sep_image>, _ x: Double, _ y: Double, _ radius: Double, _ level: Double,
        _ result: inout Photometry
    ) {
        var (sum, error, area, flag) = (0.0, 0.0, 0.0, Int16(0))
        // A pixel at the rim is divided into five by five parts, as in SExtractor.
        let status = sep_sum_circle(image, x, y, radius, 0, 5, 0, &sum, &error, &area, &flag)
        subtract(level, area, from: &sum, &error)
        let isMeasured = status == 0 && sum.isFinite && error.isFinite
        result.fluxesAperture.append(isMeasured ? sum : 0)
        result.fluxErrorsAperture.append(isMeasured ? error : 0)
    }

    /// Subtracts a source's own background from a flux, and the photons that are not the source's light from its error.
    private func subtract(_ level: Double, _ area: Double, from sum: inout Double, _ error: inout Double) {
        guard level != 0 else { return }
        let own = sum - level * area
        if gain > 0 {
            error = max(0, error * error - (max(0, sum) - max(0, own)) / gain).squareRoot()
        }
        sum = own
    }

    /// The windowed position, or the barycentre if that position cannot be measured or lies far from the source.
    private func windowedPosition(
        _ surroundings: Surroundings, _ object: Detection, halfLightRadius: Double
    ) -> (x: Double, y: Double) {
        guard halfLightRadius > 0 else { return (object.x, object.y) }
        var (x, y, rounds, flag) = (0.0, 0.0, Int32(0), Int16(0))
        // A pixel at the rim is divided into five by five parts, where SExtractor has eleven by eleven. The Gaussian has only
        // 3e-4 of its height there, so positions move by less than the accuracy of the iteration (2e-4 pixel), and a crowded
        // frame takes a fifth less time.
        let status = withImage(surroundings, object) { image, startX, startY in
            sep_windowed(
                image, startX, startY, Photometry.windowSigma * halfLightRadius, 5, 0, &x, &y, &rounds, &flag)
        }
        let reach = Photometry.windowReach * halfLightRadius
        let place = surroundings.inRectangle(x, y)
        guard status == 0, abs(place.x - object.x) <= reach, abs(place.y - object.y) <= reach else {
            return (object.x, object.y)
        }
        return (Detection.rounded(place.x), Detection.rounded(place.y))
    }

    /// Whether too large a share of the pixels that give the Kron radius, or of those in the Kron ellipse, belongs to other
    /// sources or has no data.
    ///
    /// - Parameter hidden: The number of such pixels around the source.
    private func isBiased(_ object: Detection, _ ellipse: Ellipse, kronRadius: Double, _ id: Int32, hidden: Int) -> Bool
    {
        let (inner, outer) = (
            min(kronRadius, Photometry.momentRadius), max(kronRadius, Photometry.momentRadius)
        )
        let reach = ellipse.a * outer
        let isInside =
            object.x >= reach && object.x + reach < Double(width - 1) && object.y >= reach
            && object.y + reach < Double(height - 1)
        // This test assumes that all hidden pixels lie in the smaller ellipse. It spares the count, because most sources have
        // only specks around them.
        let area = Double.pi * ellipse.a * ellipse.b * inner * inner
        guard hidden > 0, !isInside || Double(hidden) > 0.8 * SourceFlags.biasedShare * area else { return false }

        let columns = max(0, Int(object.x - reach))...min(width - 1, Int(object.x + reach) + 1)
        let lines = max(0, Int(object.y - reach))...min(height - 1, Int(object.y + reach) + 1)
        let segments = map.segments
        var (all, foreign) = ((inner: 0, outer: 0), (inner: 0, outer: 0))
        for y in lines {
            let dy = Double(y) - object.y
            for x in Photometer.columns(of: ellipse, radius: outer, dy: dy, around: object.x, within: columns) {
                let dx = Double(x) - object.x
                let distance = ellipse.cxx * dx * dx + ellipse.cyy * dy * dy + ellipse.cxy * dx * dy
                guard distance <= outer * outer else { continue }
                let index = y * width + x
                let isForeign = mask[index] != 0 || (segments[index] != 0 && segments[index] != id)
                all.outer += 1
                if isForeign { foreign.outer += 1 }
                guard distance <= inner * inner else { continue }
                all.inner += 1
                if isForeign { foreign.inner += 1 }
            }
        }
        return Double(foreign.inner) > SourceFlags.biasedShare * Double(all.inner)
            || Double(foreign.outer) > SourceFlags.biasedShare * Double(all.outer)
    }

    /// The columns of a line that an ellipse covers, with one more pixel on each side, so that the corners of the ellipse's box
    /// need no test.
    private static func columns(
        of ellipse: Ellipse, radius: Double, dy: Double, around x: Double, within columns: ClosedRange<Int>
    ) -> Range<Int> {
        let slant = ellipse.cxy * dy / (2 * ellipse.cxx)
        let square = (radius * radius - ellipse.cyy * dy * dy) / ellipse.cxx + slant * slant
        guard square.isFinite, slant.isFinite else { return Range(columns) }
        guard square > -1 else { return columns.lowerBound..<columns.lowerBound }
        let (half, middle) = (max(square, 0).squareRoot() + 1, x - slant)
        let first = max(Double(columns.lowerBound), middle - half)
        let last = min(Double(columns.upperBound), middle + half)
        return first <= last ? Int(first)..<Int(last) + 1 : columns.lowerBound..<columns.lowerBound
    }

    /// Calls `body` with the source's surroundings as SEP's image, and the source's place in it.
    private func withImage<Result>(
        _ surroundings: Surroundings, _ object: Detection,
        _ body: (UnsafePointer<sep_image>, _ x: Double, _ y: Double) -> Result
    ) -> Result {
        surroundings.withPixels(around: (object.x, object.y)) { pixels, noises, width, height, x, y in
            withUnsafePointer(to: image(pixels, noises, width, height)) { body($0, x, y) }
        }
    }

    private func image(
        _ pixels: UnsafePointer<Float>, _ noises: UnsafePointer<Float>?, _ width: Int, _ height: Int
    ) -> sep_image {
        var image = sep_image()
        image.data = UnsafeRawPointer(pixels)
        image.dtype = SEP_TFLOAT
        image.w = Int32(width)
        image.h = Int32(height)
        image.noiseval = noise
        image.noise_type = Int16(SEP_NOISE_STDDEV)
        image.noise = UnsafeRawPointer(noises)
        image.ndtype = SEP_TFLOAT
        image.gain = gain
        return image
    }
}
