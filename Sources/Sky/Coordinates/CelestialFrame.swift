import CERFA
import Glibc

/// The celestial reference system that a header's coordinates are in.
///
/// It follows the rules of FITS paper II (Calabretta & Greisen 2002, A&A 395, 1077, section 3.1): without `RADESYS`, an
/// `EQUINOX` before 1984 means FK4 and a later one FK5, and without either it is ICRS.
enum CelestialFrame: Hashable {
    case icrs
    /// Mean equator and equinox of a Julian year.
    case fk5(equinox: Double)
    /// Mean equator and equinox of a Besselian year, observed at a Julian one, because FK4 rotates against the distant
    /// galaxies. The places have the E-terms of aberration, or are without them (`FK4-NO-E`).
    case fk4(equinox: Double, epoch: Double, hasETerms: Bool)
    case galactic
    /// Mean ecliptic and equinox of a date, a Julian day.
    case ecliptic(day: Double)

    /// The values of a header that name its system, as wcslib has read them.
    struct Keywords {
        /// The beginning of the longitude's `CTYPE`: RA, GLON, ELON and so on.
        var longitude: String
        /// The `CTYPE` of both axes, for messages.
        var types: String
        /// `RADESYS`, or in old headers `RADECSYS`.
        var frame: String
        /// `EQUINOX`, or in old headers `EPOCH`.
        var equinox: Double?
        /// `MJD-OBS`, or the date of `DATE-OBS`.
        var observed: Double?
    }

    /// The polynomials of precession are not valid beyond these years.
    private static let years = 1600.0...2400.0

    /// - Throws: The reason why a system cannot be turned into ICRS.
    init(_ keywords: Keywords) throws(MissingCoordinates) {
        let frame = keywords.frame.uppercased()
        let usesEquinox = keywords.longitude == "ELON" || (keywords.longitude == "RA" && frame != "ICRS")
        if usesEquinox, let equinox = keywords.equinox, !Self.years.contains(equinox) {
            throw .unusable("the header's are of equinox \(equinox)")
        }
        switch keywords.longitude {
        case "RA": self = try Self.equatorial(frame, keywords)
        case "GLON": self = .galactic
        case "ELON":
            let isBesselian = frame.hasPrefix("FK4") || (frame.isEmpty && (keywords.equinox ?? 2000) < 1984)
            var (zero, day) = (0.0, 0.0)
            (isBesselian ? eraEpb2jd : eraEpj2jd)(keywords.equinox ?? (isBesselian ? 1950 : 2000), &zero, &day)
            self = .ecliptic(day: zero + day)
        default: throw .unusable("the header's are \(Self.kind(keywords.longitude)) (\(keywords.types))")
        }
    }

    private static func equatorial(
        _ frame: String, _ keywords: Keywords
    ) throws(MissingCoordinates) -> CelestialFrame {
        let usual = keywords.equinox.map { $0 < 1984 ? "FK4" : "FK5" } ?? "ICRS"
        switch frame.isEmpty ? usual : frame {
        case "ICRS": return .icrs
        case "FK5": return .fk5(equinox: keywords.equinox ?? 2000)
        case "FK4", "FK4-NO-E":
            let equinox = keywords.equinox ?? 1950
            var (zero, day) = (0.0, 0.0)
            eraEpb2jd(equinox, &zero, &day)
            let observed = keywords.observed.map { eraEpj(2_400_000.5, $0) }.flatMap { years.contains($0) ? $0 : nil }
            return .fk4(equinox: equinox, epoch: observed ?? eraEpj(zero, day), hasETerms: frame != "FK4-NO-E")
        default: throw .unusable("the header's are of the reference system \(MissingCoordinates.shown(frame))")
        }
    }

    /// The name of the kind of coordinates with a longitude of this name, for messages.
    private static func kind(_ longitude: String) -> String {
        // The names are those of FITS paper II, and the Sun's (Thompson 2006, A&A 449, 791).
        let names = [
            "SLON": "supergalactic", "TLON": "terrestrial", "HLON": "helioecliptic", "HPLN": "helioprojective",
            "HGLN": "heliographic", "CRLN": "heliographic",
        ]
        return names[longitude] ?? "of a celestial system that is not known here"
    }
}

/// The transformation from a celestial system to ICRS. It is a rotation; for FK4 the E-terms of aberration are taken out of the
/// places first.
struct ICRSRotation {
    private typealias Matrix = [(Double, Double, Double)]

    private let matrix: Matrix
    private let eTerms: [Double]?

    /// `nil` for ICRS itself.
    init?(from frame: CelestialFrame) {
        switch frame {
        case .icrs: return nil
        case .fk5(let equinox):
            (matrix, eTerms) = (Self.product(Self.fk5ToICRS, Self.toJ2000(from: equinox)), nil)
        case .fk4(let equinox, let epoch, let hasETerms):
            let fk5 = Self.product(Self.fk4ToFK5(epoch: epoch), Self.toB1950(from: equinox))
            matrix = Self.product(Self.fk5ToICRS, fk5)
            eTerms = hasETerms ? Self.eTerms(equinox: equinox) : nil
        case .galactic: (matrix, eTerms) = (Self.product(Self.fk5ToICRS, Self.galacticToFK5), nil)
        case .ecliptic(let day):
            var toEcliptic = Self.unit
            eraEcm06(day, 0, &toEcliptic)
            (matrix, eTerms) = (Self.transposed(toEcliptic), nil)
        }
    }

    /// Right ascension and declination in degrees of a longitude and a latitude in degrees.
    func callAsFunction(_ longitude: Double, _ latitude: Double) -> (alpha: Double, delta: Double) {
        let degree = Double.pi / 180
        var place = [0.0, 0, 0]
        eraS2c(longitude * degree, latitude * degree, &place)
        if let eTerms {
            let along = zip(place, eTerms).reduce(0) { $0 + $1.0 * $1.1 }
            for axis in 0..<3 { place[axis] += along * place[axis] - eTerms[axis] }
        }
        var (matrix, turned) = (matrix, place)
        eraRxp(&matrix, &place, &turned)
        var (alpha, delta) = (0.0, 0.0)
        eraC2s(&turned, &alpha, &delta)
        return (eraAnp(alpha) / degree, delta / degree)
    }

    private static let unit: Matrix = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    private static let arcsecond = Double.pi / 648_000

    private static func product(_ left: Matrix, _ right: Matrix) -> Matrix {
        var (left, right, result) = (left, right, unit)
        eraRxr(&left, &right, &result)
        return result
    }

    private static func transposed(_ matrix: Matrix) -> Matrix {
        var (matrix, result) = (matrix, unit)
        eraTr(&matrix, &result)
        return result
    }

    /// FK5 of J2000 to ICRS: 0.02 arcseconds (Mignard & Froeschle 2000, A&A 354, 732). The rotation of the two against each
    /// other in time is left out, because FK5's places carry no date.
    private static var fk5ToICRS: Matrix {
        var (matrix, spin) = (unit, [0.0, 0, 0])
        eraFk5hip(&matrix, &spin)
        return matrix
    }

    /// FK5 of a Julian year to FK5 of J2000, by the precession of IAU 2006 (Capitaine et al. 2003, A&A 412, 567).
    private static func toJ2000(from equinox: Double) -> Matrix {
        var (zero, day) = (0.0, 0.0)
        eraEpj2jd(equinox, &zero, &day)
        var (bias, precession, both) = (unit, unit, unit)
        eraBp06(zero, day, &bias, &precession, &both)
        return transposed(precession)
    }

    /// FK4 of a Besselian year to FK4 of B1950, by Newcomb's precession (Kinoshita 1975, SAO Special Report 364).
    private static func toB1950(from equinox: Double) -> Matrix {
        let (start, span) = ((equinox - 1850) / 100, (1950 - equinox) / 100)
        let speed = 2303.5548 + (1.39720 + 0.000059 * start) * start
        let zeta = (speed + (0.30242 - 0.000269 * start + 0.017996 * span) * span) * span
        let z = (speed + (1.09478 + 0.000387 * start + 0.018324 * span) * span) * span
        let tilt = 2005.1125 + (-0.85294 - 0.000365 * start) * start
        let theta = (tilt + (-0.42647 - 0.000365 * start - 0.041802 * span) * span) * span
        var matrix = unit
        eraRz(-zeta * arcsecond, &matrix)
        eraRy(theta * arcsecond, &matrix)
        eraRz(-z * arcsecond, &matrix)
        return matrix
    }

    /// FK4 of B1950 without E-terms, observed at a Julian year, to FK5 of J2000 (Murray 1989, A&A 218, 325, equations 28 and
    /// 29).
    private static func fk4ToFK5(epoch: Double) -> Matrix {
        let centuries = (epoch - 1950) / 100 * 1e-6
        let atB1950 = [
            (0.9999256794956877, -0.0111814832204662, -0.0048590038153592),
            (0.0111814832391717, 0.9999374848933135, -0.0000271625947142),
            (0.0048590037723143, -0.0000271702937440, 0.9999881946023742),
        ]
        let aCentury = [
            (-0.0026455262, -1.1539918689, 2.1111346190),
            (1.1540628161, -0.0129042997, 0.0236021478),
            (-2.1112979048, -0.0056024448, 0.0102587734),
        ]
        return zip(atB1950, aCentury).map {
            ($0.0 + centuries * $1.0, $0.1 + centuries * $1.1, $0.2 + centuries * $1.2)
        }
    }

    /// The part of aberration that comes from the ellipse of the Earth's orbit. FK4 left it in its places, and it is subtracted
    /// from unit vectors (Explanatory Supplement to the Astronomical Ephemeris, 1961, section 2D).
    private static func eTerms(equinox: Double) -> [Double] {
        // The time is in Julian centuries from B1950.
        let time = (equinox - 1950) * 365.242198781 / 36525
        let eccentricity = 0.01673011 - (0.00004193 + 0.000000126 * time) * time
        let perigee = (1_015_489.951 + (6190.67 + 1.65 * time) * time) * arcsecond
        let obliquity = (84_404.836 - (46.8495 + (0.00319 - 0.00181 * time) * time) * time) * arcsecond
        let size = 20.49552 * arcsecond * eccentricity
        return [
            size * sin(perigee), -size * cos(perigee) * cos(obliquity), -size * cos(perigee) * sin(obliquity),
        ]
    }

    /// Galactic coordinates to FK5. Galactic coordinates are defined in FK4. By the places of their pole and their origin in
    /// FK5 (Murray 1989) they differ by 0.02 arcseconds from those of `eraG2icrs`, which takes the same numbers to be in ICRS.
    private static var galacticToFK5: Matrix {
        let degree = Double.pi / 180
        var toGalactic = unit
        eraRz(192.85948125 * degree, &toGalactic)
        eraRy((90 - 27.128251111) * degree, &toGalactic)
        eraRz((180 - 122.93191857) * degree, &toGalactic)
        return transposed(toGalactic)
    }
}
