import CSEP

/// Measures sources in one rectangle of background-subtracted pixels.
///
/// The pointers are the caller's, who keeps them alive.
struct Photometer {
    let pixels: UnsafePointer<Float>
    /// 1 where there is no data.
    let mask: UnsafePointer<UInt8>
    /// Which source a pixel belongs to, from 1; 0 for the sky.
    let segments: UnsafeMutableBufferPointer<Int32>
    let width: Int
    let height: Int
    /// 1-sigma noise of the background, and electrons per unit of the image (0: unknown).
    let noise: Double
    /// The noise of each pixel, where that is known.
    var noises: UnsafePointer<Float>?
    let gain: Double
    let apertureRadii: [Double]

    /// Measures one source by SExtractor's recipe: the first moment in six times the axes; 2.5 times it, but at least
    /// 3.5 axes, for the ellipse of `FLUX_AUTO`; pixels of other sources replaced by those opposite.
    ///
    /// Every number is finite; what cannot be measured is 0.
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
        withImage(surroundings, object) { image, x, y in
            measureAuto(image, x, y, ellipse, &result)
            result.halfLightRadius = halfLightRadius(image, x, y, ellipse, total: result.fluxAuto)
            for radius in apertureRadii { measureCircle(image, x, y, radius, &result) }
        }
        if surroundings.hasNeighbours,
            hiddenShare(object, ellipse, radius: result.kronRadius, id) > SourceFlags.biasedShare
        {
            result.flags.insert(.biased)
        }
        reach(Photometry.windowReach * result.halfLightRadius)
        result.window = windowedPosition(surroundings, object, halfLightRadius: result.halfLightRadius)
        return result
    }

    /// Neighbours are passed over here and not replaced, as in SExtractor.
    private func kronMoment(_ object: Detection, _ ellipse: Ellipse, _ id: Int32) -> Double {
        var image = image(pixels, nil, width, height)
        image.mask = UnsafeRawPointer(mask)
        image.mdtype = SEP_TBYTE
        image.segmap = UnsafeRawPointer(segments.baseAddress)
        image.sdtype = SEP_TINT
        var (moment, flag) = (0.0, Int16(0))
        let status = sep_kron_radius(
            &image, object.x, object.y, ellipse.cxx, ellipse.cyy, ellipse.cxy, Photometry.momentRadius, id, &moment,
            &flag)
        return status == 0 && moment.isFinite ? moment : 0
    }

    private func measureAuto(
        _ image: UnsafePointer<sep_image>, _ x: Double, _ y: Double, _ ellipse: Ellipse, _ result: inout Photometry
    ) {
        var (sum, error, area, flag) = (0.0, 0.0, 0.0, Int16(0))
        let status = sep_sum_ellipse(
            image, x, y, ellipse.a, ellipse.b, ellipse.theta, result.kronRadius, 0, 1, 0, &sum, &error, &area, &flag)
        if status == 0, sum.isFinite, error.isFinite { (result.fluxAuto, result.fluxErrorAuto) = (sum, error) }
        if flag & Int16(SEP_APER_TRUNC) != 0 { result.flags.insert(.apertureIncomplete) }
    }

    private func halfLightRadius(
        _ image: UnsafePointer<sep_image>, _ x: Double, _ y: Double, _ ellipse: Ellipse, total: Double
    ) -> Double {
        guard total > 0 else { return 0 }
        // Almost always the half lies close by. Looking six axes far at once, as SExtractor does, would take half of
        // the time of the whole scan.
        for reach in [2.5, Photometry.momentRadius] {
            let limit = reach * ellipse.a
            var (total, half, radius, flag) = (total, 0.5, 0.0, Int16(0))
            let status = sep_flux_radius(image, x, y, limit, 0, 5, 0, &total, &half, 1, &radius, &flag)
            guard status == 0, radius.isFinite else { return 0 }
            // SEP returns the limit itself where the half was not reached.
            if radius < limit || reach == Photometry.momentRadius { return radius }
        }
        return 0
    }

    private func measureCircle(
        _ image: UnsafePointer<sep_image>, _ x: Double, _ y: Double, _ radius: Double, _ result: inout Photometry
    ) {
        var (sum, error, area, flag) = (0.0, 0.0, 0.0, Int16(0))
        // Five by five parts of a pixel at the rim, as SExtractor.
        let status = sep_sum_circle(image, x, y, radius, 0, 5, 0, &sum, &error, &area, &flag)
        let isMeasured = status == 0 && sum.isFinite && error.isFinite
        result.fluxesAperture.append(isMeasured ? sum : 0)
        result.fluxErrorsAperture.append(isMeasured ? error : 0)
        if flag & Int16(SEP_APER_TRUNC) != 0 { result.flags.insert(.apertureIncomplete) }
    }

    /// The barycentre where it cannot be had or runs away from the source.
    private func windowedPosition(
        _ surroundings: Surroundings, _ object: Detection, halfLightRadius: Double
    ) -> (x: Double, y: Double) {
        guard halfLightRadius > 0 else { return (object.x, object.y) }
        var (x, y, rounds, flag) = (0.0, 0.0, Int32(0), Int16(0))
        // Five by five parts of a pixel at the rim, where SExtractor has eleven by eleven: the Gaussian is down to 3e-4 of its
        // height there, positions move by less than they are iterated to (2e-4 pixel), and a crowded frame takes a fifth less.
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

    /// The part of the ellipse's pixels that other sources hold or that have no data.
    private func hiddenShare(_ object: Detection, _ ellipse: Ellipse, radius: Double, _ id: Int32) -> Double {
        let reach = ellipse.a * radius
        let columns = max(0, Int(object.x - reach))...min(width - 1, Int(object.x + reach) + 1)
        let lines = max(0, Int(object.y - reach))...min(height - 1, Int(object.y + reach) + 1)
        var (all, hidden) = (0, 0)
        for y in lines {
            let dy = Double(y) - object.y
            for x in columns {
                let dx = Double(x) - object.x
                guard ellipse.cxx * dx * dx + ellipse.cyy * dy * dy + ellipse.cxy * dx * dy <= radius * radius else {
                    continue
                }
                let index = y * width + x
                all += 1
                if mask[index] != 0 || (segments[index] != 0 && segments[index] != id) { hidden += 1 }
            }
        }
        return all > 0 ? Double(hidden) / Double(all) : 0
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
