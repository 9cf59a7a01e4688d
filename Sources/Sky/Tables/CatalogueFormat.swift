/// The formats of catalogues.
public enum CatalogueFormat: String, CaseIterable, Sendable {
    /// A FITS binary table, as TOPCAT, astropy and STILTS read it.
    case fits
    /// FITS with the image's header beside the table, as SCAMP and PSFEx want it (SExtractor's `FITS_LDAC`).
    case ldac
    /// Comma-separated values.
    case csv
    /// CSV with units, types and parameters in front, for astropy.
    case ecsv
    /// The Virtual Observatory's XML, for Aladin and TOPCAT.
    case votable
    /// One JSON object in each line.
    case ndjson
    /// Regions for DS9.
    case regions = "reg"

    /// The ending of the file names that this program chooses itself.
    public var ending: String {
        switch self {
        case .fits: ".cat.fits"
        case .ldac: ".ldac"
        case .csv: ".csv"
        case .ecsv: ".ecsv"
        case .votable: ".vot"
        case .ndjson: ".ndjson"
        case .regions: ".reg"
        }
    }

    /// The format by the ending of a file's name, in capitals or not; `nil` if no catalogue has this ending.
    public init?(path: String) {
        guard let name = path.split(separator: "/", omittingEmptySubsequences: false).last, name.contains("."),
            let ending = name.split(separator: ".", omittingEmptySubsequences: false).last?.lowercased()
        else { return nil }
        switch ending {
        case "fits", "fit", "fts": self = .fits
        case "ldac": self = .ldac
        case "csv": self = .csv
        case "ecsv": self = .ecsv
        case "vot", "votable", "xml": self = .votable
        case "ndjson", "jsonl": self = .ndjson
        case "reg": self = .regions
        default: return nil
        }
    }
}
