/// A star that both images have, fit to show how their seeing differs.
package struct ReferenceStar: Hashable, Codable, Sendable {
    /// Pixels of the new image, counted from 0.
    package let x: Double
    package let y: Double
    /// In the new image.
    package let flux: Double
    /// Whether it is as narrow as stars in both, and shows how a point looks; `nil` where nobody asked.
    var isPoint: Bool?

    /// Signal to noise from which the shape of a star shows.
    private static let signalToNoise = 30.0
    /// What a neighbour within the radius may have of the star's flux.
    private static let neighbourShare = 0.03

    /// How far a star's width may be from the stars', as a share of that.
    private static let pointShare = 0.15

    /// The unsaturated pairs without a bright neighbour, brightest first. Galaxies are as good as stars here: what
    /// makes one image of the other does not depend on what is seen.
    ///
    /// - Parameter widths: of the stars in the one and in the other, in pixels.
    static func choose(
        _ pairs: [EpochMatching.Pair], new: [Source], old: [Source], radius: Double, widths: (new: Double, old: Double)
    ) -> [ReferenceStar] {
        let spoilt: SourceFlags = [.saturated, .truncated, .apertureIncomplete]
        var places = NeighbourIndex(cell: radius)
        for (index, source) in new.enumerated() { places.add(index, CommonFrame.pixel(source)) }
        return pairs.compactMap { pair -> ReferenceStar? in
            let (a, b) = (new[pair.new], old[pair.old])
            guard SourceFlags(rawValue: a.flags | b.flags).isDisjoint(with: spoilt),
                a.fluxAuto > signalToNoise * a.fluxErrorAuto, b.fluxAuto > signalToNoise * b.fluxErrorAuto
            else { return nil }
            let place = CommonFrame.pixel(a)
            let lonely = places.near(place).allSatisfy { index in
                let other = CommonFrame.pixel(new[index])
                let (dx, dy) = (other.x - place.x, other.y - place.y)
                return index == pair.new || dx * dx + dy * dy > radius * radius
                    || new[index].fluxAuto < neighbourShare * a.fluxAuto
            }
            guard lonely else { return nil }
            let isPoint =
                abs(a.fwhm - widths.new) < pointShare * widths.new && abs(b.fwhm - widths.old) < pointShare * widths.old
            return ReferenceStar(x: place.x, y: place.y, flux: a.fluxAuto, isPoint: isPoint)
        }.sorted { ($1.flux, $0.y, $0.x) < ($0.flux, $1.y, $1.x) }
    }
}
