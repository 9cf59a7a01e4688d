import Glibc

/// Adds stars to a sector's new image, one at a time, and tests whether the comparison with the old image reports them. Around
/// each star it repeats every step that depends on the new image's pixels, from the search for sharp pixels on.
///
/// The stars look like those of the image, and not as the comparison assumes, as far as the two can be told apart. If the
/// comparison's width of the stars is wrong, they are not found, and the trial should show just that.
struct InjectedChangeTrial {
    private var vetting: CandidateVetting
    private let order: DifferenceOrder
    private let settings: DifferenceSettings
    private let blocked: [Bool]
    /// The new image's pixels above its background, including the sharp ones.
    private let raw: PixelArray
    private let rawNoise: Float
    private let light: PointLight
    private let sharp: SharpPixels

    /// The light of a point source of unit flux.
    private enum PointLight {
        case measured(PointTemplate, LanczosFilter)
        case profile(MoffatProfile)

        /// The number of pixels on each side of the middle one that have some of the light.
        var reach: Int {
            switch self {
            case .measured: PointTemplate.radius - 4
            case .profile(let profile): min(Int((2.5 * profile.fwhm).rounded(.up)), 40)
            }
        }

        func values(dx: Double, dy: Double) -> [Float] {
            switch self {
            case .measured(let template, let lanczos): template.moved(dx: dx, dy: dy, reach: reach, lanczos: lanczos)
            case .profile(let profile): PointTemplate.shape(profile, dx: dx, dy: dy, reach: reach)
            }
        }
    }

    /// Wider stars than this have light beyond the pixels of the template that stay valid after a shift.
    private static let widestTemplate = 8.0
    /// The number of pixels beyond the light that cleaning may change, because the neighbours of a sharp pixel take part.
    private static let rim = 3

    /// - Parameters:
    ///   - vetting: The vetting of the unchanged sector.
    ///   - blocked: The pixels that cannot be used.
    init(
        _ vetting: CandidateVetting, order: DifferenceOrder, settings: DifferenceSettings, blocked: [Bool]
    ) {
        let image = vetting.image
        (self.vetting, self.order, self.settings, self.blocked) = (vetting, order, settings, blocked)
        raw = image.frame.rawNew
        rawNoise = vetting.newPixelNoise
        light =
            !order.injectsNarrowest && image.newTemplate.isKnown && image.widths.new <= Self.widestTemplate
            ? .measured(image.newTemplate, vetting.lanczos) : .profile(MoffatProfile(fwhm: order.injectedWidth))
        sharp = SharpPixels(fwhm: order.newSeeing, gain: order.gain)
    }

    /// The result for a star; `nil` if one of the images has no pixels at its place.
    mutating func outcome(of star: InjectedChange) -> InjectedChange.Outcome? {
        let image = vetting.image
        let (px, py) = (star.x - Double(image.frame.rect.x), star.y - Double(image.frame.rect.y))
        let (x, y) = (Int(px.rounded()), Int(py.rounded()))
        let (width, height) = (raw.width, raw.height)
        guard x >= 0, y >= 0, x < width, y < height,
            image.frame.mask[y * width + x].isDisjoint(with: .blocking), image.newNoise > 0
        else { return nil }
        let flux = flux(star.signalToNoise, image)
        let filter = Gaussian.weights(sigma: image.widths.filter / Gaussian.fwhm).count / 2
        // The rectangles are those of the pixels that change, of the smoothed pixels that change, and of the pixels from which
        // these are made.
        let changed = light.reach + Self.rim
        let around = PixelRect(x: x, y: y, width: 1, height: 1)
        let smoothed = around.grown(by: changed + filter, width: width, height: height)
        let read = around.grown(by: changed + 2 * filter, width: width, height: height)
        let saved = Saved(image, smoothed)
        add(star, flux: flux, at: (x, y), offset: (px - Double(x), py - Double(y)), read: read, smoothed: smoothed)
        let isFound = finds(px, py)
        saved.restore(&vetting.image)
        return InjectedChange.Outcome(
            number: star.number, x: star.x, y: star.y, signalToNoise: star.signalToNoise, flux: flux, isFound: isFound)
    }

    /// The flux at which s = F / sqrt(F / gain + (noise / peak)^2). The noise and the peak are those of a star in the smoothed
    /// image, which is nearly the best aperture: this is the real noise of the image, including the effect of the resampling.
    private func flux(_ signalToNoise: Double, _ image: DifferenceImage) -> Double {
        let square = signalToNoise * signalToNoise
        let own = order.gain > 0 ? square / order.gain : 0
        let sky = Double(image.newNoise) / max(image.template.peak, .leastNormalMagnitude)
        return (own + (own * own + 4 * square * sky * sky).squareRoot()) / 2
    }

    private mutating func add(
        _ star: InjectedChange, flux: Double, at place: (x: Int, y: Int), offset: (x: Double, y: Double),
        read: PixelRect, smoothed: PixelRect
    ) {
        var window = raw.part(read)
        let reach = light.reach
        let shape = light.values(dx: offset.x, dy: offset.y)
        let photons = PhotonNoise(seed: order.injectionSeed, star: star.number, gain: order.gain)
        let side = 2 * reach + 1
        for (index, share) in shape.enumerated() {
            let (x, y) = (place.x - reach + index % side, place.y - reach + index / side)
            guard read.contains(PixelRect(x: x, y: y, width: 1, height: 1)) else { continue }
            let mean = max(flux * Double(share), 0)
            let deviation = photons?.deviation(light: mean, x: x, y: y) ?? 0
            window.values[(y - read.y) * read.width + x - read.x] += Float(mean + deviation)
        }
        var mask = [PixelMask](repeating: [], count: read.area)
        for row in 0..<read.height {
            for column in 0..<read.width {
                let index = (read.y + row) * raw.width + read.x + column
                mask[row * read.width + column] = vetting.image.frame.mask[index].intersection(.blocking)
            }
        }
        let removed = Dictionary(
            sharp.clean(&window.values, &mask, width: read.width, noise: rawNoise).map { ($0.index, $0.value) }
        ) { one, _ in one }
        for index in mask.indices where mask[index].contains(.missing) { window.values[index] = 0 }
        let result = window.smoothed(sigma: vetting.image.widths.filter / Gaussian.fwhm)
        for y in smoothed.y..<smoothed.y + smoothed.height {
            for x in smoothed.x..<smoothed.x + smoothed.width {
                let (to, from) = (y * raw.width + x, (y - read.y) * read.width + x - read.x)
                vetting.image.frame.new.values[to] = window.values[from]
                if mask[from].contains(.sharp) || vetting.image.frame.newMask[to].contains(.sharp) {
                    vetting.image.frame.sharp[to] = removed[from]
                }
                vetting.image.frame.newMask[to] = mask[from]
                vetting.image.frame.mask[to] = vetting.image.frame.oldMask[to].union(mask[from])
                vetting.image.renew(to, smoothed: result.values[from])
            }
        }
    }

    /// Whether the comparison reports a new source at a place of the frame.
    private func finds(_ x: Double, _ y: Double) -> Bool {
        let image = vetting.image
        let tolerance = max(image.widths.new / 2, 1)
        let core = PixelRect(x: Int(x.rounded()), y: Int(y.rounded()), width: 1, height: 1).grown(
            by: Int(tolerance.rounded(.up)), width: raw.width, height: raw.height)
        let peaks = DifferencePeak.all(in: image, core: core, threshold: max(settings.lowest, 3), blocked: blocked)
        return peaks.contains { peak in
            let (dx, dy) = (Double(peak.x) + peak.dx - x, Double(peak.y) + peak.dy - y)
            guard peak.height > 0, dx * dx + dy * dy <= tolerance * tolerance else { return false }
            let (refusal, height) = vetting.examine(peak, threshold: settings.lowest)
            guard refusal == nil else { return false }
            return settings.reports(vetting.candidate(peak, height: height, alignment: order.alignment))
        }
    }

    /// The parts of an image before a star was added to it.
    private struct Saved {
        let rect: PixelRect
        private var planes: [[Float]]
        private var mask: [PixelMask]
        private var newMask: [PixelMask]
        private var sharp: [Int: Float]

        init(_ image: DifferenceImage, _ rect: PixelRect) {
            self.rect = rect
            planes = [image.frame.new, image.new, image.difference, image.common].map { $0.part(rect).values }
            let width = image.frame.rect.width
            mask = image.frame.mask.part(rect, width: width)
            newMask = image.frame.newMask.part(rect, width: width)
            sharp = image.frame.sharp
        }

        func restore(_ image: inout DifferenceImage) {
            image.frame.sharp = sharp
            let width = image.frame.rect.width
            for index in 0..<rect.area {
                let to = (rect.y + index / rect.width) * width + rect.x + index % rect.width
                image.frame.new.values[to] = planes[0][index]
                image.frame.mask[to] = mask[index]
                image.frame.newMask[to] = newMask[index]
                image.restore(to, new: planes[1][index], difference: planes[2][index], common: planes[3][index])
            }
        }
    }
}
