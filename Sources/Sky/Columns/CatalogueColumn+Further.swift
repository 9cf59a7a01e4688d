import Base

extension CatalogueColumn {
    /// The columns that a catalogue has only if the user asks for them.
    package static let further: [CatalogueColumn] = [
        .init("MAG_ISO", "mag", .measure(decimals: 4), "Magnitude above the threshold", ucd: "phot.mag") {
            $0.magnitude($0.source.fluxIsophotal)
        },
        .init(
            "FLUXERR_ISO", "count", .scientific(digits: 6), "1-sigma error of FLUX_ISO", ucd: "stat.error;phot.flux",
            measures: .isophotalErrors
        ) {
            $0.source.further?.fluxErrorIsophotal
        },
        .init(
            "MAGERR_ISO", "mag", .measure(decimals: 4), "1-sigma error of MAG_ISO", ucd: "stat.error;phot.mag",
            measures: .isophotalErrors
        ) { row in
            row.source.further.flatMap { row.magnitudeError(row.source.fluxIsophotal, $0.fluxErrorIsophotal) }
        },
        .init(
            "MU_MAX", "mag/arcsec**2", .measure(decimals: 4), "Peak surface brightness", ucd: "phot.mag.sb",
            measures: .pixelArea
        ) { row in
            row.surfaceBrightness(row.source.peak)
        },
        .init(
            "MU_THRESHOLD", "mag/arcsec**2", .measure(decimals: 4), "Surface brightness of THRESHOLD",
            ucd: "phot.mag.sb", measures: .pixelArea
        ) { row in
            row.surfaceBrightness(row.source.threshold)
        },
        .init(
            "ERRA_IMAGE", "pixel", .scientific(digits: 5), "RMS error of the barycentre along its major axis",
            ucd: "stat.error;phys.angSize.smajAxis", measures: .isophotalErrors
        ) {
            $0.source.further?.positionError?.a
        },
        .init(
            "ERRB_IMAGE", "pixel", .scientific(digits: 5), "RMS error of the barycentre along its minor axis",
            ucd: "stat.error;phys.angSize.sminAxis", measures: .isophotalErrors
        ) {
            $0.source.further?.positionError?.b
        },
        .init(
            "ERRTHETA_IMAGE", "deg", .measure(decimals: 2), "Angle of that major axis, from x towards y",
            ucd: "stat.error;pos.posAng", measures: .isophotalErrors
        ) {
            $0.source.further?.positionError?.theta
        },
        .init(
            "SPREAD_MODEL", "", .scientific(digits: 6), "How much wider than the image's stars",
            ucd: "src.class.starGalaxy",
            measures: .spread
        ) { row in
            row.source.further.flatMap { $0.spread.error > 0 ? $0.spread.value : nil }
        },
        .init(
            "SPREADERR_MODEL", "", .scientific(digits: 5), "1-sigma error of SPREAD_MODEL",
            ucd: "stat.error;src.class.starGalaxy", measures: .spread
        ) { row in
            row.source.further.flatMap { $0.spread.error > 0 ? $0.spread.error : nil }
        },
        .init("SHARPNESS", "", .measure(decimals: 3), "Sharpest pixel over what is on opposite sides of it") {
            $0.source.sharpness
        },
    ]

    /// Checks the names of columns. A name with an index in parentheses, as SExtractor's vectors have it, stands for a column
    /// of its own here.
    ///
    /// - Throws: `.badInput` if a name is not a column's, or occurs twice. `nil` stands for the usual columns.
    package static func check(_ names: [String]?, apertures: Int) throws(SkyError) {
        guard let names else { return }
        let known = usual(apertures: apertures) + further
        guard (1...known.count).contains(names.count) else {
            throw SkyError(.badInput, "\(names.count) columns: a catalogue has 1 to \(known.count)")
        }
        var seen: Set<String> = []
        for name in names {
            guard known.contains(where: { $0.name == name }) else {
                throw SkyError(.badInput, "there is no column \(FITSSniff.quoted(String(name.prefix(80))))")
            }
            guard seen.insert(name).inserted else { throw SkyError(.badInput, "the column \(name) is there twice") }
        }
    }
}

extension CatalogueRow {
    /// The magnitude per square arcsecond of a pixel's value, or per pixel in an image without coordinates.
    fileprivate func surfaceBrightness(_ value: Double) -> Double? {
        guard let area = source.further?.pixelArea, area > 0 else { return nil }
        return magnitude(value / area)
    }
}
