import Glibc

/// Whether a peak of the difference is what a point source would make.
struct CandidateVetting {
    var image: DifferenceImage
    let lanczos: LanczosFilter
    /// Pixels that are bad or have a bad one near.
    private let blocked: [Bool]

    /// Opposite peaks beside it of at least this share, where the source is much brighter than what changed.
    private static let dipoleShare = 0.35
    /// Mean square of what is left after a point source was taken out, in units of its error.
    private static let largestMisfit = 2.0
    /// Square deviation of a single pixel in the same units.
    private static let largestDeviation = 36.0
    /// How well the point source's shape and error are known, as shares of its own and of the underlying light.
    private static let shapeError = 0.12
    private static let hostError = 0.5
    /// Where no star shows the shape, the error in every pixel as a share of the highest: that of a Gaussian instead of a Moffat function
    /// of the same width.
    private static let unknownShapeError = 0.06
    /// How far from a peak other light is looked for, in widths of a star, where the star itself has a twentieth of its height; from which
    /// share of the height, and from how many sigma, light there is not the star's; and in how many directions.
    private static let beside = 1.2
    private static let besideShare = 0.6
    private static let besideSignificance = 3.5
    private static let directions = 24
    /// Least significance beside bad pixels that are brighter.
    private static let leastBesideBad = 7.0
    /// Pixels near the peak that are bad, at most.
    private static let badShare = 0.2

    /// Why it is none; `nil` for a source. With the height above the surroundings.
    func examine(_ peak: DifferencePeak, threshold: Double) -> (refusal: DifferenceResult.Refusal?, height: Double) {
        let (level, opposite, bad) = surroundings(of: peak)
        let height = peak.height - level
        // A halo's own height is not above what lies around it.
        guard height * peak.height > 0, abs(height) > threshold * peak.error else { return (.surroundings, height) }
        if bad > Self.badShare { return (.edge, height) }
        if isRemainder(peak) { return (.shape, height) }
        let light = Double(image.common.values[peak.y * image.common.width + peak.x])
        if opposite > Self.dipoleShare * abs(height), abs(height) < light {
            return (.dipole, height)
        }
        switch lightBeside(peak, height: height, level: level) {
        case .runsOn: return (.surroundings, height)
        case .bad where abs(height) < Self.leastBesideBad * peak.error: return (.edge, height)
        case .bad, .none: break
        }
        let fit = fit(of: peak, height: height, level: level)
        let isPoint =
            fit.misfit <= Self.largestMisfit && fit.worst <= Self.largestDeviation
            && !fit.isOfReplaced(significance: height / peak.error)
            && !fit.isSharper(than: height > 0 ? image.seeing.new : image.seeing.old)
        return (isPoint ? nil : .shape, height)
    }

    /// A peak that stood up to this, as it is reported; without coordinates of the sky.
    func candidate(_ peak: DifferencePeak, height: Double, alignment: EpochAlignment) -> DifferenceCandidate {
        let (x, y) = (Double(peak.x + image.frame.rect.x) + peak.dx, Double(peak.y + image.frame.rect.y) + peak.dy)
        let place = alignment.old(x: x, y: y)
        let index = peak.y * image.difference.width + peak.x
        let unit = 1 / image.template.peak
        // Of a star at this place within its pixel.
        let offset = image.template.moved(dx: peak.dx, dy: peak.dy, reach: 0, lanczos: lanczos)
        let here = offset.first.map { $0 > 0 ? 1 / Double($0) : unit } ?? unit
        let extra = Double(image.variances.values[index]) / 2
        func error(_ noise: Float) -> Double { (Double(noise) * Double(noise) + extra).squareRoot() * unit }
        // A peak of width w and signal to noise s is known to w / s, over a little more than two.
        let width = image.seeing.target / Gaussian.fwhm
        return DifferenceCandidate(
            x: x + 1, y: y + 1, xOld: place.x + 1, yOld: place.y + 1,
            positionError: max(width / max(abs(peak.significance), 1), 0.03),
            fluxDifference: height * unit, fluxDifferenceError: peak.error * unit,
            fluxNew: Double(image.new.values[index]) * here, fluxNewError: error(image.newNoise),
            fluxOld: Double(image.old.values[index]) * here, fluxOldError: error(image.oldNoise),
            significance: height / peak.error)
    }

    /// The median difference in a ring around the peak, above the level it was measured from; the highest peak of the other sign
    /// near it; and the share of bad pixels within the seeing.
    private func surroundings(of peak: DifferencePeak) -> (level: Double, opposite: Double, bad: Double) {
        let (width, height) = (image.difference.width, image.difference.height)
        let target = image.seeing.target
        let (inner, outer, near) = (1.4 * target, 2.6 * target, 1.5 * target)
        let reach = Int(outer.rounded(.up))
        var ring: [Float] = []
        var opposite = 0.0
        var counts = (bad: 0, all: 0)
        let zero = image.noise.level(x: peak.x, y: peak.y)
        for y in peak.y - reach...peak.y + reach {
            for x in peak.x - reach...peak.x + reach {
                let square = Double((x - peak.x) * (x - peak.x) + (y - peak.y) * (y - peak.y))
                guard square <= outer * outer else { continue }
                let isInside = x >= 0 && y >= 0 && x < width && y < height
                let isGood = isInside && image.frame.mask[y * width + x].isEmpty
                if square <= target * target {
                    counts.all += 1
                    if !isGood { counts.bad += 1 }
                }
                guard isGood else { continue }
                let value = image.difference.values[y * width + x] - zero
                if square >= inner * inner { ring.append(value) }
                if square <= near * near { opposite = max(opposite, peak.height > 0 ? -Double(value) : Double(value)) }
            }
        }
        ring.sort()
        let level = ring.count < 10 ? 0 : Double(ring[ring.count / 2])
        return (level, opposite, Double(counts.bad) / Double(max(counts.all, 1)))
    }

    /// What light there is beside a peak that is as bright.
    private enum Beside {
        case none
        /// Of bad pixels, whose light resampling scatters.
        case bad
        /// To both sides, or far to one, as of no point source: the edge of a shadow, a trail. A neighbour by itself is none.
        case runsOn
    }

    private func lightBeside(_ peak: DifferencePeak, height: Double, level: Double) -> Beside {
        let (width, planeHeight) = (image.difference.width, image.difference.height)
        let limit = max(Self.besideShare * abs(height), Self.besideSignificance * peak.error)
        let ground = level + Double(image.noise.level(x: peak.x, y: peak.y))
        func index(_ direction: Int, _ distance: Double) -> Int? {
            let angle = 2 * .pi * Double(direction) / Double(Self.directions)
            let reach = distance * image.seeing.target
            let x = Int((Double(peak.x) + peak.dx + reach * cos(angle)).rounded())
            let y = Int((Double(peak.y) + peak.dy + reach * sin(angle)).rounded())
            return x >= 0 && y >= 0 && x < width && y < planeHeight ? y * width + x : nil
        }
        func isBright(_ direction: Int, _ distance: Double) -> Bool {
            guard let index = index(direction, distance), !blocked[index] else { return false }
            let value = Double(image.difference.values[index]) - ground
            return (height > 0 ? value : -value) > limit
        }
        var isBesideBad = false
        for direction in 0..<Self.directions {
            if isBright(direction, Self.beside),
                isBright(direction, 2 * Self.beside) || isBright(direction + Self.directions / 2, Self.beside)
            {
                return .runsOn
            }
            if let index = index(direction, Self.beside), blocked[index] {
                isBesideBad = isBesideBad || abs(Double(image.difference.values[index]) - ground) > limit
            }
        }
        return isBesideBad ? .bad : .none
    }

    /// Whether it may be what is left of a cosmic ray, of which the sharpest pixels were taken out: more than one of them lay within
    /// the seeing. One by itself is a hot pixel, of which nothing is left.
    private func isRemainder(_ peak: DifferencePeak) -> Bool {
        let frame = image.frame
        let (width, height) = (frame.rect.width, frame.rect.height)
        let radius = 0.8 * image.seeing.new + 1
        let reach = Int(radius.rounded(.up))
        var count = 0
        for y in max(0, peak.y - reach)...min(height - 1, peak.y + reach) {
            for x in max(0, peak.x - reach)...min(width - 1, peak.x + reach) {
                let (dx, dy) = (Double(x - peak.x) - peak.dx, Double(y - peak.y) - peak.dy)
                guard dx * dx + dy * dy <= radius * radius else { continue }
                let mask = peak.height > 0 ? frame.newMask[y * width + x] : frame.oldMask[y * width + x]
                if mask.contains(.sharp) { count += 1 }
            }
        }
        // Resampling spreads one pixel of the old image over four.
        return count > (peak.height > 0 ? 1 : 4)
    }

    /// How the unsmoothed images' difference compares with a point source.
    ///
    /// - Parameter level: of the difference around the peak, which the source stands on: a sky that was taken too high or too low
    ///   is no fault of the source's shape.
    private func fit(of peak: DifferencePeak, height: Double, level: Double) -> PointFit {
        let (width, planeHeight) = (image.difference.width, image.difference.height)
        let reach = min(max(Int(image.seeing.new.rounded()), 2), PointTemplate.radius - 4)
        let flux = height / image.template.peak
        let template = height > 0 ? image.newTemplate : image.oldTemplate
        let shape = template.shape(dx: peak.dx, dy: peak.dy, reach: reach, lanczos: lanczos)
        let ratio = Float(image.ratio)
        let ground = level + Double(image.noise.level(x: peak.x, y: peak.y))
        let unknown = template.isKnown ? 0 : Self.unknownShapeError * flux * template.peak
        var fit = PointFit(flux: flux)
        var place = 0
        for y in peak.y - reach...peak.y + reach {
            for x in peak.x - reach...peak.x + reach {
                defer { place += 1 }
                let index = y * width + x
                guard x >= 0, y >= 0, x < width, y < planeHeight else { continue }
                let mask = image.frame.mask[index]
                guard mask.isDisjoint(with: .blocking) else { continue }
                let (a, b) = (image.frame.new.values[index], image.frame.old.values[index] * ratio)
                let model = flux * Double(shape[place])
                let host = Self.hostError * Double(max(min(a, b), 0))
                let variance = pixelVariance + host * host + abs(model) * photonsPerUnit
                if mask.contains(.sharp) {
                    let (new, old) = image.frame.raw(x: x, y: y, lanczos: lanczos)
                    fit.addReplaced(Double(new - old * ratio) - ground, shape: Double(shape[place]), variance: variance)
                    continue
                }
                // Where a source that moved a little left its gap, this one has no say.
                if image.difference.values[index] * (height > 0 ? -1 : 1) > 3 * image.noise.sigma { continue }
                let own = Self.shapeError * model
                fit.add(
                    Double(a - b) - ground, x: Double(x - peak.x) - peak.dx, y: Double(y - peak.y) - peak.dy,
                    shape: Double(shape[place]), variance: variance, unknown: own * own + unknown * unknown)
            }
        }
        return fit
    }

    /// Of the unsmoothed new image, 1 sigma.
    let newPixelNoise: Float
    /// Of the unsmoothed difference.
    let pixelVariance: Double
    /// Variance of a pixel's own photons per unit of its light.
    let photonsPerUnit: Double

    init(image: DifferenceImage, gain: Double, lanczos: LanczosFilter, blocked: [Bool]) {
        self.image = image
        self.lanczos = lanczos
        self.blocked = blocked
        newPixelNoise = NoiseGrid(image.frame.new, mask: image.frame.mask).sigma
        let a = Double(newPixelNoise)
        let b = Double(NoiseGrid(image.frame.old, mask: image.frame.mask).sigma) * image.ratio
        pixelVariance = max(a * a + b * b, .leastNormalMagnitude)
        photonsPerUnit = gain > 0 ? 1 / gain : 0.1 * a
    }
}
