import Base

/// One column of a catalogue: its name, unit and meaning, and how its numbers are written.
///
/// `all` is the only list of columns. Every format writes these columns, in this order, or those of them and of `further` that
/// the user asks for. Each of several apertures has columns of its own; the names of the second and later ones end with a
/// number, as in SExtractor's text catalogues when a program reads them.
package struct CatalogueColumn: Sendable {
    /// How a number is kept in a FITS table and printed in a CSV file.
    package enum Form: Hashable {
        /// A whole number; 32 bits in FITS.
        case integer
        /// A position, with this many decimals; 64 bits in FITS, because 32 bits resolve a right ascension only to 0.05".
        case position(decimals: Int)
        /// A measurement, with this many decimals; 32 bits in FITS, as SExtractor writes them.
        case measure(decimals: Int)
        /// A measurement of any magnitude, with this many significant digits; 32 bits in FITS.
        case scientific(digits: Int)
        /// Characters.
        case text
    }

    /// SExtractor's name.
    package let name: String
    /// FITS's spelling of the unit; empty for none.
    package let unit: String
    /// One line of explanation.
    package let summary: String
    package let form: Form
    /// The kind of quantity (IVOA's list of unified content descriptors); empty if the list has no word for it.
    let ucd: String
    /// The value of a source; `nil` if the source has none.
    package let value: @Sendable (CatalogueRow) -> Double?
    /// The measures that the column needs and that are made only if a column asks for them.
    let measures: FurtherMeasures

    init(
        _ name: String, _ unit: String, _ form: Form, _ summary: String, ucd: String = "",
        measures: FurtherMeasures = [],
        _ value: @escaping @Sendable (CatalogueRow) -> Double?
    ) {
        self.name = name
        self.ucd = ucd
        self.unit = unit
        self.summary = summary
        self.form = form
        self.measures = measures
        self.value = value
    }

    /// The columns of a catalogue, in SExtractor's names and units (its manual, "Measurements").
    ///
    /// - Parameters:
    ///   - names: The names of the columns that the user asks for; `nil` for the usual ones. Unknown names are left out.
    ///   - unit: The unit of fluxes, which is that of the image's pixels.
    package static func all(
        _ names: [String]? = nil, apertures: Int, withFile: Bool, unit: String = "count"
    ) -> [CatalogueColumn] {
        var columns = usual(apertures: apertures)
        if let names {
            let known = Dictionary((columns + further).map { ($0.name, $0) }) { first, _ in first }
            columns = names.compactMap { known[$0] }
        }
        columns += withFile ? [numberInFile, file] : []
        return unit == "count" ? columns : columns.map { $0.unit == "count" ? $0.with(unit: unit) : $0 }
    }

    /// The columns of a catalogue if the user chooses none.
    static func usual(apertures: Int) -> [CatalogueColumn] {
        positions + automatic + (0..<apertures).flatMap(aperture) + shape
    }

    private func with(unit: String) -> CatalogueColumn {
        CatalogueColumn(name, unit, form, summary, ucd: ucd, measures: measures, value)
    }

    /// The column that leads from a catalogue of several images to that of one.
    private static let numberInFile = CatalogueColumn(
        "NUMBER_IN_FILE", "", .integer, "Running number among the sources of its image", ucd: "meta.id"
    ) { Double($0.numberInImage) }

    /// The column of the image's name, which is not a number.
    private static let file = CatalogueColumn("FILE", "", .text, "Image that it was found in", ucd: "meta.id;meta.file")
    { _ in
        nil
    }

    private static let positions: [CatalogueColumn] = [
        .init("NUMBER", "", .integer, "Running number", ucd: "meta.id") { Double($0.number) },
        .init(
            "X_IMAGE", "pixel", .position(decimals: 4), "Position along x, first pixel at 1",
            ucd: "pos.cartesian.x;instr.det"
        ) { $0.source.x },
        .init(
            "Y_IMAGE", "pixel", .position(decimals: 4), "Position along y, first pixel at 1",
            ucd: "pos.cartesian.y;instr.det"
        ) { $0.source.y },
        .init("ALPHA_J2000", "deg", .position(decimals: 7), "Right ascension", ucd: "pos.eq.ra;meta.main") {
            $0.source.alpha
        },
        .init("DELTA_J2000", "deg", .position(decimals: 7), "Declination", ucd: "pos.eq.dec;meta.main") {
            $0.source.delta
        },
        .init(
            "XWIN_IMAGE", "pixel", .position(decimals: 4), "Windowed position along x", ucd: "pos.cartesian.x;instr.det"
        ) { $0.source.xWindow },
        .init(
            "YWIN_IMAGE", "pixel", .position(decimals: 4), "Windowed position along y", ucd: "pos.cartesian.y;instr.det"
        ) { $0.source.yWindow },
        .init(
            "ALPHAWIN_J2000", "deg", .position(decimals: 7), "Right ascension of the windowed position",
            ucd: "pos.eq.ra"
        ) {
            $0.source.alphaWindow
        },
        .init(
            "DELTAWIN_J2000", "deg", .position(decimals: 7), "Declination of the windowed position", ucd: "pos.eq.dec"
        ) {
            $0.source.deltaWindow
        },
    ]

    private static let automatic: [CatalogueColumn] = [
        .init("FLUX_AUTO", "count", .scientific(digits: 7), "Flux in the Kron ellipse", ucd: "phot.flux") {
            $0.source.fluxAuto
        },
        .init(
            "FLUXERR_AUTO", "count", .scientific(digits: 6), "1-sigma error of FLUX_AUTO", ucd: "stat.error;phot.flux"
        ) {
            $0.source.fluxErrorAuto
        },
        .init("MAG_AUTO", "mag", .measure(decimals: 4), "Magnitude in the Kron ellipse", ucd: "phot.mag") {
            $0.magnitude($0.source.fluxAuto)
        },
        .init("MAGERR_AUTO", "mag", .measure(decimals: 4), "1-sigma error of MAG_AUTO", ucd: "stat.error;phot.mag") {
            $0.magnitudeError($0.source.fluxAuto, $0.source.fluxErrorAuto)
        },
    ]

    private static func aperture(_ index: Int) -> [CatalogueColumn] {
        let suffix = index == 0 ? "" : "_\(index)"
        @Sendable func pair(_ row: CatalogueRow) -> (flux: Double, error: Double)? {
            let (fluxes, errors) = (row.source.fluxesAperture, row.source.fluxErrorsAperture)
            return index < fluxes.count && index < errors.count ? (fluxes[index], errors[index]) : nil
        }
        return [
            .init(
                "FLUX_APER" + suffix, "count", .scientific(digits: 7), "Flux in a circular aperture", ucd: "phot.flux"
            ) {
                pair($0)?.flux
            },
            .init(
                "FLUXERR_APER" + suffix, "count", .scientific(digits: 6), "1-sigma error of FLUX_APER" + suffix,
                ucd: "stat.error;phot.flux"
            ) {
                pair($0)?.error
            },
            .init(
                "MAG_APER" + suffix, "mag", .measure(decimals: 4), "Magnitude in a circular aperture", ucd: "phot.mag"
            ) { row in
                pair(row).flatMap { row.magnitude($0.flux) }
            },
            .init(
                "MAGERR_APER" + suffix, "mag", .measure(decimals: 4), "1-sigma error of MAG_APER" + suffix,
                ucd: "stat.error;phot.mag"
            ) { row in
                pair(row).flatMap { row.magnitudeError($0.flux, $0.error) }
            },
        ]
    }

    private static let shape: [CatalogueColumn] = [
        .init("FLUX_ISO", "count", .scientific(digits: 7), "Flux above the threshold", ucd: "phot.flux") {
            $0.source.fluxIsophotal
        },
        .init("FLUX_MAX", "count", .scientific(digits: 7), "Peak above the background", ucd: "phot.flux;stat.max") {
            $0.source.peak
        },
        .init(
            "FLUX_RADIUS", "pixel", .measure(decimals: 3), "Radius of half of FLUX_AUTO", ucd: "phys.angSize;phot.flux"
        ) {
            $0.source.halfLightRadius
        },
        .init(
            "KRON_RADIUS", "", .measure(decimals: 3), "Kron radius in units of A_IMAGE and B_IMAGE", ucd: "phys.angSize"
        ) {
            $0.source.kronRadius
        },
        .init("A_IMAGE", "pixel", .measure(decimals: 4), "RMS along the major axis", ucd: "phys.angSize.smajAxis") {
            $0.source.a
        },
        .init("B_IMAGE", "pixel", .measure(decimals: 4), "RMS along the minor axis", ucd: "phys.angSize.sminAxis") {
            $0.source.b
        },
        .init(
            "THETA_IMAGE", "deg", .measure(decimals: 2), "Angle of the major axis, from x towards y", ucd: "pos.posAng"
        ) {
            $0.source.theta
        },
        .init("ELONGATION", "", .measure(decimals: 3), "A_IMAGE / B_IMAGE", ucd: "src.morph") { $0.elongation },
        .init(
            "FWHM_IMAGE", "pixel", .measure(decimals: 3), "Full width at half maximum of the core", ucd: "phys.angSize"
        ) {
            $0.source.fwhm
        },
        .init("BACKGROUND", "count", .scientific(digits: 7), "Level of the sky at the centroid", ucd: "instr.skyLevel")
        {
            $0.source.background
        },
        .init(
            "THRESHOLD", "count", .scientific(digits: 7), "Detection threshold above BACKGROUND", ucd: "instr.det.noise"
        ) {
            $0.source.threshold
        },
        .init("ISOAREA_IMAGE", "pixel**2", .integer, "Pixels above the threshold", ucd: "phys.area") {
            Double($0.source.area)
        },
        .init("FLAGS", "", .integer, "1 biased, 2 blend, 4 saturated, 8 at edge, 16 cut", ucd: "meta.code") {
            Double($0.source.flags)
        },
        .init("IMAFLAGS_ISO", "", .integer, "1 has a pixel sharper than stars: hot, cosmic ray", ucd: "meta.code") {
            Double($0.source.imageFlags)
        },
        .init("SECTOR", "", .integer, "Sector of the image that owns it") { Double($0.source.sector) },
    ]

    /// The characters of a column of text.
    package func text(_ row: CatalogueRow) -> String { row.image }

    /// Appends the value of `row` as text, in quotes if it contains a comma or the like; nothing if there is no value.
    package func append(_ row: CatalogueRow, to bytes: inout [UInt8]) {
        if form == .text {
            var text = text(row)
            // Nearly all names have plain characters only.
            guard text.utf8.contains(where: { $0 == 0x22 || $0 == 0x2C || !(0x20..<0x7F).contains($0) }) else {
                bytes += text.utf8
                return
            }
            // CSV has no escapes, and people read it in terminals, so characters that cannot be shown are replaced.
            text = PrintableText.whole(text)
            guard text.utf8.contains(where: { $0 == 0x22 || $0 == 0x2C }) else {
                bytes += text.utf8
                return
            }
            // Quotes inside are doubled (RFC 4180).
            bytes.append(0x22)
            for byte in text.utf8 { bytes += byte == 0x22 ? [0x22, 0x22] : [byte] }
            bytes.append(0x22)
            return
        }
        guard let value = value(row) else { return }
        switch form {
        case .integer: DecimalText.appendFixed(value, 0, to: &bytes)
        case .position(let decimals), .measure(let decimals): DecimalText.appendFixed(value, decimals, to: &bytes)
        case .scientific(let digits): DecimalText.appendSignificant(value, digits, to: &bytes)
        case .text: break
        }
    }
}
