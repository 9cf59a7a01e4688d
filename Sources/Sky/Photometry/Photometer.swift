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
        withPixels(surroundings, object) { pixels, x, y in
            measureAuto(pixels, x, y, ellipse, level, &result)
            result.halfLightRadius = halfLightRadius(pixels, x, y, ellipse, total: result.fluxAuto)
            for radius in apertureRadii { measureCircle(pixels, x, y, radius, level, &result) }
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
        let pixels = KronMoment.Pixels(
            values: kron.pixels, mask: kron.mask, segments: map.segments, width: width, height: height)
        let moment = KronMoment(
            pixels, x: object.x, y: object.y, ellipse, radius: Photometry.momentRadius, id: id)
        guard let moment, moment.value.isFinite else { return 0 }
        return moment.value
    }

    private func measureAuto(
        _ pixels: AperturePixels, _ x: Double, _ y: Double, _ ellipse: Ellipse, _ level: Double,
        _ result: inout Photometry
    ) {
        guard let aperture = EllipticalAperture(pixels, x: x, y: y, ellipse, radius: result.kronRadius) else { return }
        let (sum, error) = withoutLevel(level, aperture.sum, aperture.error, area: aperture.area)
        if sum.isFinite, error.isFinite { (result.fluxAuto, result.fluxErrorAuto) = (sum, error) }
    }

    private func halfLightRadius(
        _ pixels: AperturePixels, _ x: Double, _ y: Double, _ ellipse: Ellipse, total: Double
    ) -> Double {
        guard total > 0 else { return 0 }
        // Half of the light almost always lies close to the centre. A search out to six axes at once, as SExtractor's, would
        // take half of the time of the whole scan.
        for reach in [2.5, Photometry.momentRadius] {
            let limit = reach * ellipse.a
            guard let radius = CurveOfGrowth(pixels, x: x, y: y, limit: limit)?.radius(of: 0.5 * total),
                radius.isFinite
            else { return 0 }
            // The radius is the limit itself if not half of the light lies within it.
            if radius < limit || reach == Photometry.momentRadius { return radius }
        }
        return 0
    }

    private func measureCircle(
        _ pixels: AperturePixels, _ x: Double, _ y: Double, _ radius: Double, _ level: Double,
        _ result: inout Photometry
    ) {
        let aperture = CircularAperture(pixels, x: x, y: y, radius: radius)
        let (sum, error) = aperture.map { withoutLevel(level, $0.sum, $0.error, area: $0.area) } ?? (.nan, .nan)
        let isMeasured = sum.isFinite && error.isFinite
        result.fluxesAperture.append(isMeasured ? sum : 0)
        result.fluxErrorsAperture.append(isMeasured ? error : 0)
    }

    /// A flux without the source's own background, and its error without the photons that are not the source's light.
    private func withoutLevel(_ level: Double, _ sum: Double, _ error: Double, area: Double) -> (Double, Double) {
        guard level != 0 else { return (sum, error) }
        let own = sum - level * area
        guard gain > 0 else { return (own, error) }
        return (own, max(0, error * error - (max(0, sum) - max(0, own)) / gain).squareRoot())
    }

    /// The windowed position, or the barycentre if that position cannot be measured or lies far from the source.
    private func windowedPosition(
        _ surroundings: Surroundings, _ object: Detection, halfLightRadius: Double
    ) -> (x: Double, y: Double) {
        guard halfLightRadius > 0 else { return (object.x, object.y) }
        // A pixel at the rim is divided into five by five parts, where SExtractor has eleven by eleven. The Gaussian has only
        // 3e-4 of its height there, so positions move by less than the accuracy of the iteration (2e-4 pixel), and a crowded
        // frame takes a fifth less time.
        let window = withPixels(surroundings, object) { pixels, x, y in
            WindowedPosition(pixels, x: x, y: y, sigma: Photometry.windowSigma * halfLightRadius)
        }
        guard let window else { return (object.x, object.y) }
        let reach = Photometry.windowReach * halfLightRadius
        let place = surroundings.inRectangle(window.x, window.y)
        guard abs(place.x - object.x) <= reach, abs(place.y - object.y) <= reach else {
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

        let columns = ApertureBox.range(around: object.x, reach: reach, of: width)
        let lines = ApertureBox.range(around: object.y, reach: reach, of: height)
        let segments = map.segments
        var (all, foreign) = ((inner: 0, outer: 0), (inner: 0, outer: 0))
        for y in lines {
            let dy = Double(y) - object.y
            for x in ellipse.columns(of: dy, radius: outer, around: object.x, within: columns) {
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

    /// Calls `body` with the source's surroundings, and the source's place in them.
    private func withPixels<Result>(
        _ surroundings: Surroundings, _ object: Detection,
        _ body: (AperturePixels, _ x: Double, _ y: Double) -> Result
    ) -> Result {
        surroundings.withPixels(around: (object.x, object.y)) { pixels, noises, width, height, x, y in
            let pixels = AperturePixels(
                values: pixels, noises: noises, width: width, height: height, noise: noise, gain: gain)
            return body(pixels, x, y)
        }
    }
}
