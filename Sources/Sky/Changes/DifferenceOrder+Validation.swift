import Base

extension DifferenceOrder {
    /// The largest number of stars that match the seeing; more make the match no better.
    static let starLimit = 100_000

    package func validate() throws(SkyError) {
        try sector.validate()
        try oldInfo.validate()
        try SkyError.unless(
            [ratio, newSeeing, oldSeeing, gain, newSaturation ?? 0, oldSaturation ?? 0].allSatisfy(\.isFinite),
            "a comparison's numbers must be finite")
        let widths = DifferenceOrder.seeings
        try SkyError.unless(
            widths.contains(newSeeing) && widths.contains(oldSeeing), "stars of \(newSeeing) and \(oldSeeing) pixels")
        try SkyError.unless(stars.count <= DifferenceOrder.starLimit, "\(stars.count) stars to match the seeing")
        for star in stars {
            try SkyError.unless(
                Source.places.contains(star.x) && Source.places.contains(star.y) && star.flux.isFinite,
                "a star that no image has")
        }
        try SkyError.unless(
            injected.count <= InjectedChange.countLimit && Injection.widths.contains(injectedWidth),
            "\(injected.count) stars of \(injectedWidth) pixels to be injected")
        for star in injected { try star.validate(in: sector.core) }
        try SkyError.unless(
            tellsPixels != true || sector.core.area <= CheckImage.sectorLimit,
            "a difference of \(sector.core.width) x \(sector.core.height) pixels in one message")
    }

    /// The widths of stars in pixels that are allowed in calculations. Wider ones are not stars, and margins follow from the
    /// widths.
    static let seeings = 0.0...1000.0
}

extension EpochChange {
    package func validate() throws(SkyError) {
        try SkyError.unless(
            [x, y].allSatisfy(Source.places.contains), "a change that no image has")
    }
}
