import Base

/// The comparison of one sector. Both images are read, brought to the same pixels, seeing and sensitivity, and subtracted. The
/// places where the rest looks like a point source are listed.
///
/// Its calls block. It takes some 60 bytes of memory for each pixel of the sector.
package struct DifferenceScan {
    package let new: EpochImage
    package let old: EpochImage
    package let order: DifferenceOrder
    package let settings: DifferenceSettings

    package init(
        new: EpochImage, old: EpochImage, order: DifferenceOrder, settings: DifferenceSettings? = nil
    ) {
        (self.new, self.old, self.order) = (new, old, order)
        self.settings = settings ?? DifferenceSettings(new.info)
    }

    /// - Throws: `.badInput` if the sector or the images are not those of the order; the errors of reading.
    package func run() throws(SkyError) -> DifferenceResult {
        let core = order.sector.core
        guard new.info.contains(core), (old.info.width, old.info.height) == (order.oldInfo.width, order.oldInfo.height)
        else {
            throw SkyError(.badInput, "sector \(order.sector.index) is not of these images; did a file change?")
        }
        var result = DifferenceResult(sector: order.sector.index, corePixels: core.width * core.height)
        let widths = DifferenceImage.Widths(order)
        let rect = core.grown(by: widths.margin, width: new.info.width, height: new.info.height)
        let lanczos = LanczosFilter()
        guard let frame = try PairFrame(rect: rect, new: new, old: old, order: order, lanczos: lanczos) else {
            return result
        }
        let inner = PixelRect(x: core.x - rect.x, y: core.y - rect.y, width: core.width, height: core.height)
        result.comparedPixels = Self.goodPixels(frame, inner)
        guard result.comparedPixels > 0 else { return result }
        let image = try DifferenceImage(
            frame: frame, new: new, old: old, order: order, widths: widths, lanczos: lanczos)
        result.stars = image.stars
        guard image.noise.sigma > 0 else { return result }
        let blocked = Self.blocked(frame, radius: Int((0.8 * widths.target).rounded()))
        let lowest = settings.lowest
        // A peak at a border may lie on either side of it for each of the two sectors. Both list it, and merging keeps one.
        let searched = inner.grown(by: 2, width: rect.width, height: rect.height)
        let peaks = DifferencePeak.all(in: image, core: searched, threshold: max(lowest, 3), blocked: blocked)
        let vetting = CandidateVetting(image: image, gain: order.gain, lanczos: lanczos, blocked: blocked)
        for peak in peaks.sorted(by: { (-abs($0.significance), $0.y, $0.x) < (-abs($1.significance), $1.y, $1.x) }) {
            let (refusal, height) = vetting.examine(peak, threshold: lowest)
            if let refusal {
                if abs(peak.significance) >= settings.threshold { result.refused[refusal] += 1 }
                continue
            }
            let candidate = vetting.candidate(peak, height: height, alignment: order.alignment)
            guard settings.keeps(candidate) else { continue }
            guard result.candidates.count < DifferenceResult.mostCandidates else {
                result.omitted += 1
                continue
            }
            result.candidates.append(candidate)
        }
        addSky(to: &result)
        if order.tellsPixels == true { result.planes = DifferencePixels(image, core: core) }
        guard !order.injected.isEmpty else { return result }
        var trial = InjectedChangeTrial(vetting, order: order, settings: settings, blocked: blocked)
        result.injected = order.injected.compactMap { trial.outcome(of: $0) }
        return result
    }

    private func addSky(to result: inout DifferenceResult) {
        let places = new.sky(result.candidates.map { ($0.x, $0.y) })
        for (index, place) in zip(result.candidates.indices, places) {
            (result.candidates[index].alpha, result.candidates[index].delta) = (place?.alpha, place?.delta)
        }
    }

    private static func goodPixels(_ frame: PairFrame, _ core: PixelRect) -> Int {
        (core.y..<core.y + core.height).reduce(0) { sum, y in
            sum
                + frame.mask[(y * frame.rect.width + core.x)..<(y * frame.rect.width + core.x + core.width)]
                .count { !$0.contains(.missing) }
        }
    }

    /// Whether each pixel is bad or has a bad one near.
    private static func blocked(_ frame: PairFrame, radius: Int) -> [Bool] {
        let (width, height) = (frame.rect.width, frame.rect.height)
        var blocked = [Bool](repeating: false, count: width * height)
        guard frame.mask.contains(where: { !$0.isDisjoint(with: .blocking) }) else { return blocked }
        // The mask grows in two passes of a box, because a square is round enough here.
        var rows = blocked
        for y in 0..<height {
            var last = -radius - 1
            for x in 0..<width + radius {
                if x < width, !frame.mask[y * width + x].isDisjoint(with: .blocking) { last = x }
                let target = x - radius
                if target >= 0, last >= target - radius { rows[y * width + target] = true }
            }
        }
        for x in 0..<width {
            var last = -radius - 1
            for y in 0..<height + radius {
                if y < height, rows[y * width + x] { last = y }
                let target = y - radius
                if target >= 0, last >= target - radius { blocked[target * width + x] = true }
            }
        }
        return blocked
    }
}
