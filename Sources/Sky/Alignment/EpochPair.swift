import Base

/// All that has to be known about two images before they are compared sector by sector: decided from their catalogues alone.
public struct EpochPair: Hashable, Codable, Sendable {
    /// Where the one lies over the other.
    public let alignment: EpochAlignment
    /// Ratio of their fluxes.
    public let scale: FluxScale
    /// How well their stars agree on that.
    public let agreement: EpochAgreement
    /// How wide their stars are.
    public let newStars: Seeing
    public let oldStars: Seeing
    /// Values from which pixels are saturated; `nil` for none.
    public let newSaturation: Double?
    public let oldSaturation: Double?
    /// Electrons per unit of the new image; 0 where unknown.
    public let gain: Double
    /// Size of the old image.
    package let oldInfo: ImageInfo
    /// Bright and lonely stars, the brightest first.
    package let stars: [ReferenceStar]
    /// Stars that the comparison puts into the new image's copy, how wide they are where no star shows it, and where the random
    /// numbers start.
    package let injected: [InjectedChange]
    let injectedWidth: Double
    /// Whether they have that width although the image's stars are thought to be wider.
    let injectsNarrowest: Bool
    let injectionSeed: UInt64

    /// Stars that are kept of the whole image, and that a sector gets.
    private static let mostStars = 4000
    private static let mostOfSector = 48
    private static let enough = 12

    /// Matches the catalogues of two images.
    ///
    /// - Parameters:
    ///   - coordinateError: how far coordinates may be off, in arcseconds; `nil` for what is usual.
    ///   - injected: stars to be put into the new image's copy, to see what is found; 0 for none.
    ///   - seed: where their random numbers start.
    /// - Throws: `.badInput` where the images cannot be compared, with the reason.
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
        // Where hardly a star is in both, each may show its own the better.
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
        // Where somebody names a width, what is measured is another opinion.
        let measured = new.seeing == nil ? newStars : StarWidths(news).seeing ?? newStars
        // Galaxies may have been taken for stars: then those are as narrow as the narrowest sources.
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

    /// Full widths at half maximum of their stars in pixels, as far as a comparison can follow.
    public var newSeeing: Double { Self.width(newStars) }
    public var oldSeeing: Double { Self.width(oldStars) }

    private static func width(_ seeing: Seeing) -> Double {
        min(max(seeing.fwhm, widths.lowerBound), widths.upperBound)
    }

    private static let widths = 1.0...15
    /// Than the measured width: what scatters about it is not.
    private static let muchNarrower = 0.75
    private static let narrowestStars = 3
    /// Of hot pixels the width in pixels is below.
    private static let sharpest = 1.8

    /// The width of the third narrowest of the bright, round sources that are no hot pixels.
    private static func narrowest(_ sources: [Source]) -> Double? {
        let widths = sources.filter {
            $0.flags == 0 && $0.fwhm > sharpest && $0.fluxAuto > 20 * $0.fluxErrorAuto && $0.b > 0.7 * $0.a
        }.map(\.fwhm).sorted()
        return widths.count < narrowestStars ? nil : widths[narrowestStars - 1]
    }

    /// Why the comparison had better not be relied upon, in words; empty where nothing speaks against it.
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

    /// Of the stars' width from one image to the other.
    private static let largestChange = 1.6

    /// What the comparison of one sector needs to know.
    ///
    /// - Parameter tellsPixels: Whether it is to tell the difference itself, too.
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
            // A sparse sector asks its neighbours.
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

    /// What drawing changes of one sector needs to know.
    public func cutoutOrder(for sector: Sector) -> DifferenceOrder { order(for: sector, injects: false) }
}
