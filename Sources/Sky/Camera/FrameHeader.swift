import Glibc

/// The cards that describe a frame. They follow after those that FITS requires.
struct FrameHeader {
    let cards: [FITSCard]
    /// The comment by which a frame is told.
    static let mark = "made by skynode synthesize"

    init(_ recipe: SkySynthesis, _ view: Observation) {
        let seen = view.recipe
        var cards = [
            FITSCard("OBJECT", .text("synthetic sky"), Self.mark),
            FITSCard("BUNIT", .text("adu"), "unit of the pixels"),
            FITSCard("EXPTIME", .real(seen.exposure), "[s] exposure time"),
            FITSCard("GAIN", .real(seen.gain), "[electron/adu] gain"),
            FITSCard("RDNOISE", .real(seen.readNoise), "[electron] read noise"),
            FITSCard("SATURATE", .real(seen.ceiling ?? 0), "[adu] saturation, 0 for none"),
            FITSCard("MAGZERO", .real(seen.zeroPoint), "[mag] magnitude of 1 adu/s"),
            FITSCard(
                "PHOTZP", .real(seen.zeroPoint + 2.5 * log10(seen.exposure)), "[mag] magnitude of 1 adu in this frame"),
            FITSCard("FWHM", .real(seen.fwhm), "[pix] full width at half maximum of a star"),
            FITSCard("SKYLEVEL", .real(seen.sky), "[adu] sky in the middle of the frame"),
            FITSCard("SEED", .unsigned(seen.seed), "seed of everything random"),
        ]
        // A card for a feature that the plain recipe does not have is written only if the frame has the feature.
        if recipe.profile != .moffat {
            cards.append(FITSCard("PROFILE", .text(recipe.profile.rawValue), "what the seeing makes of a point"))
        }
        if recipe.cosmicRays > 0 {
            cards.append(FITSCard("NCOSMIC", .integer(recipe.cosmicRays), "tracks of cosmic rays"))
        }
        if recipe.trails > 0 {
            cards.append(FITSCard("NTRAIL", .integer(recipe.trails), "trails of satellites"))
        }
        if recipe.nanBlock { cards.append(BadBlock(recipe).card) }
        if recipe.epochs > 1 {
            cards.append(FITSCard("EXPNUM", .integer(view.epoch), "number of the epoch, counted from 0"))
            cards += ObservingTime(seconds: Double(view.epoch) * recipe.interval).cards
        }
        self.cards = cards + view.plane.cards
    }
}
