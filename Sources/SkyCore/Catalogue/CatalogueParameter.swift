/// What decided a catalogue, as every format tells it: a FITS keyword, and what it means.
extension CatalogueTable {
    /// The program, the images and the configuration, each of the latter with the name of SExtractor's parameter.
    var parameters: [FITSCard] {
        let scan = configuration
        var cards = [FITSCard("CREATOR", .text("skynode " + SkyNetVersion.current), "program that made this")]
        for (index, section) in sections.enumerated() {
            // Eight characters are all that a keyword may have.
            let number = sections.count > 1 ? "\(index + 1)" : ""
            cards.append(FITSCard("IMAGE" + number, .text(section.image), "image that was scanned"))
            if let digest = section.digest {
                cards.append(FITSCard("SHA" + number, .text(digest), "SHA-256 of its file"))
            }
            for companion in section.companions {
                let isMask = companion.keyword == "MASK"
                // Of several images each has its number, for which there must be room.
                let keyword = number.isEmpty ? companion.keyword : companion.briefKeyword + number
                cards.append(FITSCard(keyword, .text(companion.path), "what the pixels are worth"))
                if let digest = companion.digest {
                    let digestKeyword =
                        number.isEmpty ? (isMask ? "MASKSHA" : "NOISESHA") : (isMask ? "MSHA" : "NSHA") + number
                    cards.append(FITSCard(digestKeyword, .text(digest), "SHA-256 of its file"))
                }
            }
            cards.append(FITSCard("FILT" + number, .text(section.filter.name), "FILTER_NAME"))
            if let fwhm = section.filter.fwhm {
                cards.append(FITSCard("FWHM" + number, .real(fwhm), "[pixel] of the Gaussian filter"))
            }
            if let seeing = scan.seeing(of: section.sources) {
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
        cards += [
            FITSCard("THRESH", .real(scan.threshold), "[sigma] DETECT_THRESH"),
            FITSCard("THRUNIT", .text(scan.thresholdUnit.rawValue), "noise of pixels, or of the filtered image"),
            FITSCard("MINAREA", .integer(scan.minimumArea), "[pixel] DETECT_MINAREA"),
            FITSCard("NTHRESH", .integer(scan.deblendLevels), "DEBLEND_NTHRESH"),
            FITSCard("MINCONT", .real(scan.deblendContrast), "DEBLEND_MINCONT"),
            FITSCard("CLEAN", .real(scan.cleanParameter ?? 0), "CLEAN_PARAM, 0 for no cleaning"),
            FITSCard("BACKSIZE", .integer(scan.meshSize), "[pixel] BACK_SIZE"),
            FITSCard("BACKFILT", .integer(scan.meshFilterSize), "[mesh] BACK_FILTERSIZE"),
        ]
        cards += scan.apertureDiameters.enumerated().map {
            FITSCard("APER\($0.offset + 1)", .real($0.element), "[pixel] PHOT_APERTURES, a diameter")
        }
        if let saturation = scan.saturation {
            cards.append(FITSCard("SATURATE", .real(saturation), "[adu] SATUR_LEVEL"))
        }
        return cards + [
            FITSCard("GAIN", .real(scan.gain), "[electron/adu] GAIN, 0 for none"),
            FITSCard("MAGZERO", .real(scan.zeroPoint), "[mag] MAG_ZEROPOINT"),
            FITSCard("SECTOR", .integer(scan.sectorSize ?? 0), "[pixel] side of a sector, 0 for the whole image"),
            FITSCard("MARGIN", .integer(scan.margin), "[pixel] rim around a sector"),
        ]
    }

    private static func hundredths(_ value: Double) -> Double { (value * 100).rounded() / 100 }

    /// Images that a header names; of more the column FILE tells.
    private static let imageLimit = 999
}

extension FITSCard {
    /// The value for formats that are text.
    var text: String {
        switch value {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .unsigned(let number): "\(number)"
        // With a point, without which 5e-05 is no number to YAML 1.1.
        case .real(let number): "\(number)".contains(".") ? "\(number)" : "\(number)".replacing("e", with: ".0e")
        }
    }

    /// The comment's unit, in brackets in front of it, and the rest; without what is no unit to others (VOUnits 1.0).
    var unitAndMeaning: (unit: String, meaning: String) {
        guard comment.hasPrefix("["), let end = comment.firstIndex(of: "]") else { return ("", comment) }
        let unit = String(comment[comment.index(after: comment.startIndex)..<end])
        guard ["pixel", "mag", "adu"].contains(unit) else { return ("", comment) }
        let meaning = comment[comment.index(after: end)...].drop { $0 == " " }
        return (unit, String(meaning))
    }
}
