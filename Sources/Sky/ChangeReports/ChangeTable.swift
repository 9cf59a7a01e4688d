package import Base
import Glibc

/// The changes between two images, as a table.
public struct ChangeTable: Sendable {
    /// The rows, and how well the images fit each other.
    public let comparison: EpochComparison
    /// The images as the reader should see them.
    public let image: String
    public let reference: String
    /// Magnitude of one unit of flux in the new image.
    public let zeroPoint: Double
    /// Whether rates are per hour.
    public let hasTimes: Bool
    /// What the images were measured by; `nil` where that is not known.
    package var arithmetic: Arithmetic? = .current

    public init(
        _ comparison: EpochComparison, image: String, reference: String, zeroPoint: Double, hasTimes: Bool
    ) {
        self.comparison = comparison
        (self.image, self.reference, self.zeroPoint, self.hasTimes) = (image, reference, zeroPoint, hasTimes)
    }

    /// The rows of one kind.
    public func count(_ kind: EpochChange.Kind) -> Int { comparison.changes.count { $0.kind == kind } }

    /// The facts that decided the result, one in each line.
    public var facts: [(name: String, value: String)] {
        let rate =
            (comparison.usesSky ? "arcsec" : "pixel") + (hasTimes ? " an hour" : " by the time between two images")
        let agreement = comparison.agreement
        var facts =
            (blindness.map { [(name: "blind", value: $0)] } ?? [])
            + comparison.doubts.map { (name: "caution", value: $0) }
        facts += [
            ("program", "skynode " + SkyNetVersion.current)
        ]
        if let arithmetic { facts.append(("arithmetic", arithmetic.text)) }
        facts += [
            ("image", image), ("reference", reference),
            (
                "sources in common",
                "\(comparison.matches), \(DecimalText.fixed(comparison.scatter, 3)) pixel apart"
                    + (comparison.usesSky ? "" : ", matched by their pattern: not both have coordinates")
            ),
            (
                "bright stars",
                "\(agreement.matched) in both, \(agreement.unmatchedNew) in the image alone, "
                    + "\(agreement.unmatchedOld) in the reference alone; "
                    + "\(agreement.leftOut) sources took no part: sharper than stars, or fixed to the detector"
            ),
            (
                "flux, new to old",
                "\(DecimalText.fixed(comparison.ratio, 4)), bright stars scatter by "
                    + "\(DecimalText.fixed(100 * comparison.fluxFloor, 1)) % beyond their errors"
            ),
            ("full width of stars, image", Seeing.words(comparison.newStars)),
            ("full width of stars, reference", Seeing.words(comparison.oldStars)),
            ("compared", "\(DecimalText.fixed(100 * comparison.coverage, 1)) % of the image"),
            ("RATE", rate), ("MAG without MAGERR", "at least: the source is not seen, three sigma"),
        ]
        if let depth = comparison.depth { facts.append(("injected stars", words(depth))) }
        let refused = DifferenceResult.Refusal.allCases.filter { comparison.refused[$0] > 0 }
            .map { "\($0.rawValue) \(comparison.refused[$0])" }
        if !refused.isEmpty { facts.append(("differences that are none", refused.joined(separator: ", "))) }
        if comparison.omitted > 0 {
            facts.append(("differences left out", "\(comparison.omitted): do the images show the same sky?"))
        }
        return facts
    }

    /// Why the table says nothing about changes, in words; `nil` if the comparison is sensitive enough.
    public var blindness: String? {
        guard let depth = comparison.depth, depth.isBlind, let share = depth.share else { return nil }
        return "of the stars with a signal to noise above 10 that were put into the image, the comparison finds "
            + "\(DecimalText.fixed(100 * share, 0)) % only: what it does not report may well be there"
    }

    /// How faint a source the comparison can find, in words.
    private func words(_ depth: EpochDepth) -> String {
        guard depth.injected > 0 else { return "none could be put where both images show something" }
        var words = "\(depth.found) of \(depth.injected) found"
        if let share = depth.share {
            words += ", \(DecimalText.fixed(100 * share, 0)) % of those above a signal to noise of 10"
        }
        return words + (self.depth.map { "; half of \($0)" } ?? "")
    }

    /// The brightness at which half of the new sources are found, in words; `nil` if it is not known.
    public var depth: String? {
        guard let depth = comparison.depth, let flux = depth.flux, let ratio = depth.signalToNoise else { return nil }
        return
            "\(DecimalText.fixed(zeroPoint - 2.5 * log10(flux), 2)) mag (signal to noise \(DecimalText.fixed(ratio, 1)))"
    }

    /// How reliable the comparison is, in one line.
    public var verdict: String {
        let fit = comparison
        func fixed(_ value: Double, _ digits: Int) -> String { DecimalText.fixed(value, digits) }
        var parts = [
            "stars \(fixed(fit.newStars.fwhm, 2)) and \(fixed(fit.oldStars.fwhm, 2)) pixels wide",
            "\(fit.matches) in common, \(fixed(fit.scatter, 3)) pixel apart",
            "flux ratio \(fixed(fit.ratio, 3)) within \(fixed(100 * fit.fluxFloor, 1)) %",
            "\(fixed(100 * fit.coverage, 1)) % compared",
        ]
        if let share = fit.depth?.share { parts.append("sees \(fixed(100 * share, 0)) % of bright stars") }
        if let depth { parts.append("half of those of \(depth)") }
        return parts.joined(separator: ", ")
    }

    fileprivate static let columns = [
        "NUMBER", "KIND", "X_IMAGE", "Y_IMAGE", "X_OLD", "Y_OLD", "ALPHA_J2000", "DELTA_J2000", "ERR_IMAGE", "FLUX_NEW",
        "FLUXERR_NEW", "MAG_NEW", "MAGERR_NEW", "FLUX_OLD", "FLUXERR_OLD", "MAG_OLD", "MAGERR_OLD", "FLUX_DIFF",
        "FLUXERR_DIFF", "SIGNIFICANCE", "ON_SOURCE", "RATE", "ANGLE", "TRACK",
    ]

    /// Comma-separated values; a value that does not exist is an empty field.
    public var csv: [UInt8] {
        var text = Self.columns.joined(separator: ",") + "\n"
        for (index, change) in comparison.changes.enumerated() {
            text += ([String(index + 1)] + cells(change)).joined(separator: ",") + "\n"
        }
        return Array(text.utf8)
    }

    private func cells(_ change: EpochChange) -> [String] {
        func fixed(_ value: Double?, _ digits: Int) -> String {
            value.map { $0.isFinite ? DecimalText.fixed($0, digits) : "" } ?? ""
        }
        func magnitude(_ flux: Double, _ error: Double) -> [String] {
            let magnitude = EpochChange.magnitude(flux, error, zeroPoint: zeroPoint)
            return [fixed(magnitude?.value, 4), fixed(magnitude?.error ?? nil, 4)]
        }
        let old = [fixed(change.fluxOld, 3), fixed(change.fluxOldError, 3)]
        let difference = [fixed(change.fluxDifference, 3), fixed(change.fluxDifferenceError, 3)]
        var cells = [change.kind.rawValue]
        cells += [change.x, change.y, change.xOld, change.yOld].map { fixed($0, 3) }
        cells += [fixed(change.alpha, 7), fixed(change.delta, 7), fixed(change.positionError, 3)]
        cells += [fixed(change.fluxNew, 3), fixed(change.fluxNewError, 3)]
        cells += magnitude(change.fluxNew, change.fluxNewError) + old + magnitude(change.fluxOld, change.fluxOldError)
        cells += difference + [fixed(change.significance, 2), change.isOnSource ? "1" : "0"]
        return cells
            + [fixed(change.rate, 4), fixed(change.positionAngle, 2), change.track.map { String($0) } ?? ""]
    }
}

extension OutputKind {
    /// The changes of an image as a table.
    package static let changes = OutputKind(
        "table of changes", beginsWith: ChangeTable.columns.joined(separator: ",") + "\n")
}
