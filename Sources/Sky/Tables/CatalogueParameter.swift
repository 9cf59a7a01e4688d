import Base

/// The parameters of a catalogue, which every format writes: each is a FITS keyword with its meaning.
extension CatalogueTable {
    /// The program, the images and the configuration. The comment of each value of the configuration names SExtractor's
    /// parameter.
    var parameters: [FITSCard] {
        let scan = configuration
        let isOneCamera = Set(sections.map { camera(of: $0, "") }).count <= 1
        let isOneArithmetic = Set(sections.map(\.arithmetic)).count <= 1
        var cards = FITSCard.program(arithmetic: isOneArithmetic ? sections.first?.arithmetic : nil)
        for (index, section) in sections.enumerated() {
            // A keyword may have only eight characters, so the number must be short.
            let number = sections.count > 1 ? "\(index + 1)" : ""
            cards.append(FITSCard("IMAGE" + number, .text(section.image), "image that was scanned"))
            if !isOneArithmetic, let arithmetic = section.arithmetic {
                cards.append(FITSCard("ARITH" + number, .text(arithmetic.text), FITSCard.arithmeticComment))
            }
            if let digest = section.digest {
                cards.append(
                    FITSCard(number.isEmpty ? "SHA256" : "DIGST" + number, .text(digest), "SHA-256 of its file"))
            }
            for companion in section.companions {
                // With several images each keyword ends with a number, so there must be room for it.
                let keyword = number.isEmpty ? companion.keyword : companion.briefKeyword + number
                cards.append(FITSCard(keyword, .text(companion.path), companion.comment))
                if let digest = companion.digest {
                    let (whole, brief) = companion.digestKeyword
                    cards.append(
                        FITSCard(number.isEmpty ? whole : brief + number, .text(digest), "SHA-256 of its file"))
                }
            }
            if let plane = section.plane {
                cards.append(FITSCard("PLANE" + number, .integer(plane), "of the cube, from 1"))
            }
            cards += section.layer?.cards(number) ?? []
            cards += section.keywords.cards(number)
            if !isOneCamera { cards += camera(of: section, number) }
            cards.append(FITSCard("FILT" + number, .text(section.filter.name), "FILTER_NAME"))
            if let fwhm = section.filter.fwhm {
                cards.append(FITSCard("FWHM" + number, .real(fwhm), "[pixel] of the Gaussian filter"))
            }
            if let seeing = scan.seeing(of: section.sources, isDual: section.isDual) {
                cards.append(
                    FITSCard("STARW" + number, .real(Self.hundredths(seeing.fwhm)), "[pixel] full width of the stars"))
                if seeing.stars > 0 {
                    cards.append(
                        FITSCard("STARE" + number, .real(Self.hundredths(seeing.error)), "[pixel] its standard error"))
                    cards.append(FITSCard("STARN" + number, .integer(seeing.stars), "stars that it was measured with"))
                }
            }
            if index == CatalogueTable.imageLimit - 1 { break }
        }
        cards += ScanKeys.finding.flatMap { $0.cards(scan) }
        // A table without images has only the parameters of the configuration.
        if isOneCamera { cards += camera(of: sections.first ?? Section(image: "", sources: []), "") }
        return cards + ScanKeys.cutting.flatMap { $0.cards(scan) }
    }

    /// The camera's values, from the configuration or else from the image's header.
    private func camera(of section: Section, _ number: String) -> [FITSCard] {
        let (scan, keywords) = (configuration(of: section), section.keywords)
        func origin(_ given: Double?, _ number: ImageKeywords.Number?) -> String {
            given == nil ? number.map { ", the header's \($0.keyword)" } ?? "" : ""
        }
        let saturation = scan.saturation.map {
            FITSCard(
                number.isEmpty ? "SATURATE" : "SATUR" + number, .real($0),
                "SATUR_LEVEL" + origin(configuration.saturation, keywords.saturation))
        }
        return (saturation.map { [$0] } ?? []) + [
            FITSCard(
                "GAIN" + number, .real(scan.gain ?? 0),
                "GAIN, 0 for none" + origin(configuration.gain, keywords.gain)),
            FITSCard(
                number.isEmpty ? "MAGZERO" : "MAGZP" + number, .real(scan.zeroPoint ?? 0),
                "[mag] MAG_ZEROPOINT" + origin(configuration.zeroPoint, keywords.zeroPoint)),
        ]
    }

    private static func hundredths(_ value: Double) -> Double { (value * 100).rounded() / 100 }

    /// The largest number of images that a header names; for more images the column FILE gives the names.
    private static let imageLimit = 999
}

extension ImageLayer {
    /// The colour that was measured, and how its values became pixels.
    fileprivate func cards(_ number: String) -> [FITSCard] {
        var cards: [FITSCard] = []
        if let bayer {
            cards.append(FITSCard("BAYER" + number, .text(bayer.pattern.rawValue), "order of the camera's filters"))
            cards.append(
                FITSCard("COLOR" + number, .text(bayer.colour.rawValue), "one that was scanned, every 2nd pixel"))
        }
        if let scale {
            cards.append(FITSCard("PIXOF" + number, .real(scale.offset), "taken off the pixels for the scan"))
            cards.append(FITSCard("PIXEX" + number, .integer(scale.exponent), "scanned in units of 2 to this power"))
        }
        return cards
    }
}

extension ImageKeywords {
    /// The comment that distinguishes the card of a date from others.
    static let dateComment = "when it was taken"

    /// When the image was taken, what it shows and through which filter, by its header.
    ///
    /// - Parameter number: The number of the image among several; the keywords then leave room for three digits.
    fileprivate func cards(_ number: String) -> [FITSCard] {
        func card(_ alone: String, _ brief: String, _ value: FITSCard.Value?, _ comment: String) -> FITSCard? {
            value.map { FITSCard(number.isEmpty ? alone : brief + number, $0, comment) }
        }
        return [
            card("OBJECT", "OBJ", object.map(FITSCard.Value.text), "what it is a picture of"),
            card("DATE-OBS", "DATE", date.map(FITSCard.Value.text), Self.dateComment),
            card("TIMESYS", "TSYS", date.map { _ in .text(timeScale) }, "time scale of that"),
            card("EXPTIME", "EXPT", exposure.map(FITSCard.Value.real), "[s] time of exposure"),
            card("FILTER", "BAND", filter.map(FITSCard.Value.text), "what the light came through"),
            card("PIXUNIT", "UNIT", unit.map(FITSCard.Value.text), "unit of the pixels"),
        ].compactMap { $0 }
    }
}

extension FITSCard {
    /// The value for formats that are text.
    package var text: String {
        switch value {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .unsigned(let number): "\(number)"
        // The number has a decimal point, because 5e-05 without one is not a number in YAML 1.1.
        case .real(let number): "\(number)".contains(".") ? "\(number)" : "\(number)".replacing("e", with: ".0e")
        }
    }

    /// The unit in brackets at the start of the comment, and the rest. Units that VOUnits 1.0 does not know are not separated.
    var unitAndMeaning: (unit: String, meaning: String) {
        guard comment.hasPrefix("["), let end = comment.firstIndex(of: "]") else { return ("", comment) }
        let unit = String(comment[comment.index(after: comment.startIndex)..<end])
        guard ["pixel", "mag", "adu"].contains(unit) else { return ("", comment) }
        let meaning = comment[comment.index(after: end)...].drop { $0 == " " }
        return (unit, String(meaning))
    }
}
