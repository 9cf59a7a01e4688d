/// A star in both images that can show how their seeing differs.
package struct ReferenceStar: Hashable, Codable, Sendable {
    /// The star's place in pixels of the new image, counted from 0.
    package let x: Double
    package let y: Double
    /// The star's flux in the new image.
    package let flux: Double
    /// Whether the star is as narrow as stars in both images, and so shows the image of a point source; `nil` if that was not
    /// tested.
    var isPoint: Bool?

    /// The signal to noise from which the shape of a star is visible.
    private static let signalToNoise = 30.0
    /// The largest share of the star's flux that a neighbour within the radius may have.
    private static let neighbourShare = 0.03

    /// The largest difference of a star's width from the stars' width, as a share of that.
    private static let pointShare = 0.15

    /// Chooses the unsaturated pairs without a bright neighbour, brightest first. Galaxies are as good as stars here, because
    /// the kernel between the two images does not depend on the source.
    ///
    /// - Parameter widths: The widths of the stars in the one image and in the other, in pixels.
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
