import Base

/// The properties of two images that are needed before they are compared sector by sector. They follow from the two catalogues
/// alone.
public struct EpochPair: Hashable, Codable, Sendable {
    /// How the one image lies over the other.
    public let alignment: EpochAlignment
    /// The ratio of their fluxes.
    public let scale: FluxScale
    /// How well their stars agree on the alignment.
    public let agreement: EpochAgreement
    /// The widths of their stars.
    public let newStars: Seeing
    public let oldStars: Seeing
    /// The values from which pixels are saturated; `nil` for none.
    public let newSaturation: Double?
    public let oldSaturation: Double?
    /// Electrons per unit of the new image; 0 if it is unknown.
    public let gain: Double
    /// The size of the old image.
    package let oldInfo: ImageInfo
    /// Bright and isolated stars, the brightest first.
    package let stars: [ReferenceStar]
    /// The stars that the comparison adds to a copy of the new image; below, their width if no star shows it, and the seed of
    /// their random numbers.
    package let injected: [InjectedChange]
    let injectedWidth: Double
    /// Whether these stars have that width although the measurement gave a larger one.
    let injectsNarrowest: Bool
    let injectionSeed: UInt64

    /// The largest numbers of stars that are kept for the whole image, and that a sector gets; below, the least number for a
    /// sector.
    private static let mostStars = 4000
    private static let mostOfSector = 48
    private static let enough = 12

    /// Matches the catalogues of two images.
    ///
    /// - Parameters:
    ///   - coordinateError: The largest error of coordinates, in arcseconds; `nil` for the usual one.
    ///   - injected: The number of stars to add to a copy of the new image, to see which are found; 0 for none.
    ///   - seed: The seed of their random numbers.
    /// - Throws: `.badInput` with the reason if the images cannot be compared.
    public init(
        new: Epoch, old: Epoch, coordinateError: Double? = nil, injected: Int = 0, seed: UInt64 = 1
    ) throws(SkyError) {
        let (news, olds) = (new.sources, old.sources)
        let alone = (new: new.seeing ?? StarWidths(news).seeing, old: old.seeing ?? StarWidths(olds).seeing)
        let matching = try EpochMatching(
            new: news, old: olds, newInfo: new.catalogue.info, oldInfo: old.catalogue.info, seeing: alone,
            coordinateError: coordinateError)
        alignment = matching.alignment
        agreement = matching.agreement
        scale = try FluxScale(pairs: matching.pairs, new: news, old: olds)
        var both = StarWidths.seeing(
            of: matching.pairs.map { (news[$0.new], olds[$0.old]) }, alone: (alone.new, alone.old))
        // If hardly a star is in both images, each image alone may show its stars better.
        if let (first, second) = both, !(first.isClear && second.isClear), let new = alone.new, let old = alone.old,
            new.isClear, old.isClear, new.fwhm < Self.muchNarrower * first.fwhm,
            old.fwhm < Self.muchNarrower * second.fwhm
        {
            both = (new, old)
        }
        guard let newStars = new.seeing ?? both?.first ?? alone.new,
            let oldStars = old.seeing ?? both?.second ?? alone.old
        else {
            throw SkyError(
                .badInput,
                "too few stars to measure how wide they are, without which nothing can be told from noise; "
                    + "--seeing names the width")
        }
        (self.newStars, self.oldStars) = (newStars, oldStars)
        let (newSeeing, oldSeeing) = (Self.width(newStars), Self.width(oldStars))
        // If the user gives a width, the measured width still counts for the added stars.
        let measured = new.seeing == nil ? newStars : StarWidths(news).seeing ?? newStars
        // Galaxies may have been taken for stars. Then the added stars are as narrow as the narrowest sources.
        let narrowest = measured.isClear ? nil : Self.narrowest(news)
        injectedWidth = min(Self.width(measured), max(narrowest ?? .infinity, Self.widths.lowerBound))
        injectsNarrowest = narrowest.map { $0 < Self.muchNarrower * measured.fwhm } ?? false
        self.injected = InjectedChange.all(injected, seed: seed, info: new.catalogue.info)
        injectionSeed = seed
        newSaturation = new.saturationLevel(seeing: newSeeing)
        oldSaturation = old.saturationLevel(seeing: oldSeeing)
        gain = new.gain.isFinite && new.gain > 0 ? new.gain : 0
        var info = old.catalogue.info
        (info.header, info.images, info.auxiliaries, info.content) = (nil, nil, nil, nil)
        oldInfo = info
        stars = Array(
            ReferenceStar.choose(
                matching.pairs, new: news, old: olds, radius: 4 * max(newSeeing, oldSeeing),
                widths: (newSeeing, oldSeeing)
            ).prefix(Self.mostStars))
    }

    /// The full widths at half maximum of the stars in pixels, within the range that a comparison can handle.
    public var newSeeing: Double { Self.width(newStars) }
    public var oldSeeing: Double { Self.width(oldStars) }

    private static func width(_ seeing: Seeing) -> Double {
        min(max(seeing.fwhm, widths.lowerBound), widths.upperBound)
    }

    private static let widths = 1.0...15
    /// A narrower source has less than this share of the measured width; the scatter about that width is smaller.
    private static let muchNarrower = 0.75
    private static let narrowestStars = 3
    /// Hot pixels have a smaller width than this, in pixels.
    private static let sharpest = 1.8

    /// The width of the third narrowest of the bright, round sources that are not hot pixels.
    private static func narrowest(_ sources: [Source]) -> Double? {
        let widths = sources.filter {
            $0.flags == 0 && $0.fwhm > sharpest && $0.fluxAuto > 20 * $0.fluxErrorAuto && $0.b > 0.7 * $0.a
        }.map(\.fwhm).sorted()
        return widths.count < narrowestStars ? nil : widths[narrowestStars - 1]
    }

    /// Why the comparison is not reliable, in words; empty if there is no reason for doubt.
    public var doubts: [String] {
        var doubts = agreement.doubts + scale.doubts
        for (name, stars) in [("image", newStars), ("reference", oldStars)] {
            if let doubt = stars.doubt { doubts.append("the stars' width in the \(name) is \(doubt)") }
        }
        if max(newStars.fwhm, oldStars.fwhm) > Self.largestChange * min(newStars.fwhm, oldStars.fwhm) {
            doubts.append(
                "stars are \(DecimalText.fixed(newStars.fwhm, 2)) pixels wide in the image and "
                    + "\(DecimalText.fixed(oldStars.fwhm, 2)) in the reference, which makes the comparison shallow")
        }
        return doubts
    }

    /// The largest ratio of the stars' widths in the two images.
    private static let largestChange = 1.6

    /// The order for the comparison of one sector.
    ///
    /// - Parameter tellsPixels: Whether the result should have the difference itself, too.
    public func order(for sector: Sector, tellsPixels: Bool = false) -> DifferenceOrder {
        order(for: sector, tellsPixels: tellsPixels, injects: true)
    }

    private func order(for sector: Sector, tellsPixels: Bool = false, injects: Bool) -> DifferenceOrder {
        let core = sector.core
        func distance(_ star: ReferenceStar) -> Double {
            let dx = max(Double(core.x) - star.x, star.x - Double(core.x + core.width - 1), 0)
            let dy = max(Double(core.y) - star.y, star.y - Double(core.y + core.height - 1), 0)
            return dx * dx + dy * dy
        }
        var chosen = stars.filter { distance($0) == 0 }
        if chosen.count < Self.enough {
            // A sparse sector also gets stars of its neighbours.
            chosen = Array(stars.sorted { (distance($0), -$0.flux) < (distance($1), -$1.flux) }.prefix(Self.enough))
        }
        return DifferenceOrder(
            sector: sector, alignment: alignment,
            ratio: scale.ratio(
                x: Double(core.x) + Double(core.width) / 2, y: Double(core.y) + Double(core.height) / 2),
            newSeeing: newSeeing, oldSeeing: oldSeeing, newSaturation: newSaturation, oldSaturation: oldSaturation,
            gain: gain, oldInfo: oldInfo, stars: Array(chosen.prefix(Self.mostOfSector)),
            injected: injects ? injected.filter { core.contains($0.pixel) } : [], injectedWidth: injectedWidth,
            injectsNarrowest: injectsNarrowest,
            injectionSeed: injectionSeed, tellsPixels: tellsPixels ? true : nil)
    }

    /// The order for the pictures of the changes in one sector.
    public func cutoutOrder(for sector: Sector) -> DifferenceOrder { order(for: sector, injects: false) }
}
