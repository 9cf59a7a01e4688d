import Glibc

/// Decides whether a peak of the difference is one that a point source would make.
struct CandidateVetting {
    var image: DifferenceImage
    let lanczos: LanczosFilter
    /// Whether each pixel is bad or has a bad one near.
    private let blocked: [Bool]

    /// An opposite peak beside the peak with at least this share of its height makes it a dipole, if the source is much
    /// brighter than the change.
    private static let dipoleShare = 0.35
    /// The largest mean square of the residual after a point source was taken out, in units of its error.
    private static let largestMisfit = 2.0
    /// The largest square deviation of a single pixel, in the same units.
    private static let largestDeviation = 36.0
    /// The errors of the point source's shape and of the underlying light, as shares of each.
    private static let shapeError = 0.12
    private static let hostError = 0.5
    /// If no star shows the shape, the error in every pixel as a share of the highest. It is that of a Gaussian instead of a
    /// Moffat function of the same width.
    private static let unknownShapeError = 0.06
    /// The test for other light beside a peak. The first number is the distance from the peak in widths of a star, at which a
    /// star itself has a twentieth of its height. The next two are the least light that is not the star's, as a share of the
    /// height and in sigmas. The last is the number of directions.
    private static let beside = 1.2
    private static let besideShare = 0.6
    private static let besideSignificance = 3.5
    private static let directions = 24
    /// The least significance of a peak beside bad pixels that are brighter.
    private static let leastBesideBad = 7.0
    /// The largest share of bad pixels near the peak.
    private static let badShare = 0.2

    /// Returns why the peak is not a source, or `nil` for a source, with the height above the surroundings.
    func examine(_ peak: DifferencePeak, threshold: Double) -> (refusal: DifferenceResult.Refusal?, height: Double) {
        let (level, opposite, bad) = surroundings(of: peak)
        let height = peak.height - level
        // The peak of a halo is not above its own surroundings.
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
            && !fit.isSharper(than: height > 0 ? image.widths.new : image.widths.old)
        return (isPoint ? nil : .shape, height)
    }

    /// The candidate that is reported for a peak that passed; without coordinates of the sky.
    func candidate(_ peak: DifferencePeak, height: Double, alignment: EpochAlignment) -> DifferenceCandidate {
        let (x, y) = (Double(peak.x + image.frame.rect.x) + peak.dx, Double(peak.y + image.frame.rect.y) + peak.dy)
        let place = alignment.old(x: x, y: y)
        let index = peak.y * image.difference.width + peak.x
        let unit = 1 / image.template.peak
        // This is the factor of a star at this place within its pixel.
        let offset = image.template.moved(dx: peak.dx, dy: peak.dy, reach: 0, lanczos: lanczos)
        let here = offset.first.map { $0 > 0 ? 1 / Double($0) : unit } ?? unit
        let extra = Double(image.variances.values[index]) / 2
        func error(_ noise: Float) -> Double { (Double(noise) * Double(noise) + extra).squareRoot() * unit }
        // The position of a peak of width w and signal to noise s has an error of w / s, divided by a little more than two.
        let width = image.widths.target / Gaussian.fwhm
        return DifferenceCandidate(
            x: x + 1, y: y + 1, xOld: place.x + 1, yOld: place.y + 1,
            positionError: max(width / max(abs(peak.significance), 1), 0.03),
            fluxDifference: height * unit, fluxDifferenceError: peak.error * unit,
            fluxNew: Double(image.new.values[index]) * here, fluxNewError: error(image.newNoise),
            fluxOld: Double(image.old.values[index]) * here, fluxOldError: error(image.oldNoise),
            significance: height / peak.error)
    }

    /// The median difference in a ring around the peak, above the level from which the peak was measured; the highest peak of
    /// the other sign near it; and the share of bad pixels within the seeing.
    private func surroundings(of peak: DifferencePeak) -> (level: Double, opposite: Double, bad: Double) {
        let (width, height) = (image.difference.width, image.difference.height)
        let target = image.widths.target
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

    /// The light beside a peak that is as bright as the peak.
    private enum Beside {
        case none
        /// The light is that of bad pixels, which resampling spreads.
        case bad
        /// The light continues to both sides, or far to one side, as no point source does: the edge of a shadow, or a trail. A
        /// neighbour alone does not count.
        case runsOn
    }

    private func lightBeside(_ peak: DifferencePeak, height: Double, level: Double) -> Beside {
        let (width, planeHeight) = (image.difference.width, image.difference.height)
        let limit = max(Self.besideShare * abs(height), Self.besideSignificance * peak.error)
        let ground = level + Double(image.noise.level(x: peak.x, y: peak.y))
        func index(_ direction: Int, _ distance: Double) -> Int? {
            let angle = 2 * .pi * Double(direction) / Double(Self.directions)
            let reach = distance * image.widths.target
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

    /// Whether the peak may be the rest of a cosmic ray whose sharpest pixels were taken out. Then more than one of these
    /// pixels lies within the seeing. A single one is a hot pixel, which leaves no rest.
    private func isRemainder(_ peak: DifferencePeak) -> Bool {
        let frame = image.frame
        let (width, height) = (frame.rect.width, frame.rect.height)
        let radius = 0.8 * image.widths.new + 1
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

    /// Compares the difference of the unsmoothed images with a point source.
    ///
    /// - Parameter level: The level of the difference around the peak, on which the source stands. A wrong level of the sky
    ///   must not count against the source's shape.
    private func fit(of peak: DifferencePeak, height: Double, level: Double) -> PointFit {
        let (width, planeHeight) = (image.difference.width, image.difference.height)
        let reach = min(max(Int(image.widths.new.rounded()), 2), PointTemplate.radius - 4)
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
                // A pixel in the gap that a slightly moved source left does not count.
                if image.difference.values[index] * (height > 0 ? -1 : 1) > 3 * image.noise.sigma { continue }
                let own = Self.shapeError * model
                fit.add(
                    Double(a - b) - ground, x: Double(x - peak.x) - peak.dx, y: Double(y - peak.y) - peak.dy,
                    shape: Double(shape[place]), variance: variance, unknown: own * own + unknown * unknown)
            }
        }
        return fit
    }

    /// The noise of a pixel of the unsmoothed new image, 1 sigma.
    let newPixelNoise: Float
    /// The variance of a pixel of the unsmoothed difference.
    let pixelVariance: Double
    /// The variance of a pixel's own photons per unit of its light.
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
