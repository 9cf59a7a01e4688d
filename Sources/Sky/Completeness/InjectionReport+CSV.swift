import Glibc

extension InjectionReport {
    fileprivate static let head =
        "ROUND,NUMBER,X_IMAGE,Y_IMAGE,ALPHA_J2000,DELTA_J2000,MAG,FLUX,MASKED,BLENDED,FOUND,X_FOUND,Y_FOUND,FLUX_AUTO,"
        + "FLUXERR_AUTO,MAG_AUTO,FLUX_APER,FLUXERR_APER,MAG_APER,FLAGS\n"

    /// One line for each star after a line of names: the star, and what was measured of it. A value that does not exist is an
    /// empty field, as in the catalogues.
    package func csv() -> [UInt8] {
        var bytes = Array(Self.head.utf8)
        for star in stars {
            let (injected, match) = (star.injected, star.match)
            func fixed(_ value: Double?, _ decimals: Int) -> (inout [UInt8]) -> Void {
                { bytes in if let value { DecimalText.appendFixed(value, decimals, to: &bytes) } }
            }
            func flux(_ value: Double?) -> (inout [UInt8]) -> Void {
                { bytes in if let value { DecimalText.appendSignificant(value, 7, to: &bytes) } }
            }
            func magnitude(_ flux: Double?) -> Double? {
                flux.flatMap { $0 > 0 ? zeroPoint - 2.5 * log10($0) : nil }
            }
            func flag(_ holds: Bool) -> (inout [UInt8]) -> Void { fixed(holds ? 1 : 0, 0) }
            let aperture = match?.fluxesAperture.first
            let fields: [(inout [UInt8]) -> Void] = [
                fixed(Double(star.round), 0), fixed(Double(injected.number), 0), fixed(injected.x, 4),
                fixed(injected.y, 4),
                fixed(injected.alpha, 8), fixed(injected.delta, 8), fixed(star.magnitude, 4), flux(injected.flux),
                flag(injected.isMasked), flag(star.isBlended), flag(match != nil), fixed(match?.x, 4),
                fixed(match?.y, 4), flux(match?.fluxAuto), flux(match?.fluxErrorAuto),
                fixed(magnitude(match?.fluxAuto), 4), flux(aperture), flux(match?.fluxErrorsAperture.first),
                fixed(magnitude(aperture), 4), fixed(match.map { Double($0.flags) }, 0),
            ]
            for (index, append) in fields.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                append(&bytes)
            }
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }
}

extension OutputKind {
    /// The artificial stars of an image and what was measured of them, as a table.
    package static let injection = OutputKind("table of artificial stars", beginsWith: InjectionReport.head)
}
