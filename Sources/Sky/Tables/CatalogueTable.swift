package import Base

/// A catalogue ready to be written: the sources of one image or of several, and the configuration that found them.
///
/// Equal catalogues give equal bytes in every format: the precision is fixed, and no date and no machine's name is written.
public struct CatalogueTable: Sendable {
    /// The sources of one image.
    public struct Section: Sendable {
        /// The image's name as the reader should see it.
        public var image: String
        /// SHA-256 of the file, in hexadecimal; `nil` if the user did not ask for it.
        public var digest: String?
        /// The weights and the mask that the scan used, with the SHA-256 of each.
        public var companions: [CompanionFile] = []
        /// The plane of a cube; `nil` for an image of one plane.
        public var plane: Int?
        /// The part of its HDU that the image is; `nil` for all of it.
        public var layer: ImageLayer?
        /// The header cards of the image, 80 characters each, for formats that pass them on.
        public var header: [String] {
            didSet { keywords = ImageKeywords(header) }
        }
        /// What the header says about the camera, the light and the moment.
        public private(set) var keywords: ImageKeywords
        /// What the sources were measured by; `nil` where that is not known.
        package var arithmetic: Arithmetic? = .current
        /// The filter with which the sources were found.
        public var filter: DetectionFilter
        /// The sources in the order of their numbers.
        public var sources: [Source]
        /// Whether the sources were found in another image.
        var isDual: Bool { companions.contains { $0.keyword == CompanionFile.detection } }

        /// The sources of an image.
        public init(
            image: String, digest: String? = nil, header: [String] = [], filter: DetectionFilter = .pyramid,
            sources: [Source]
        ) {
            self.image = image
            self.digest = digest
            self.header = header
            keywords = ImageKeywords(header)
            self.filter = filter
            self.sources = sources
        }
    }

    /// A file that tells how good an image's pixels are, or in which its sources were found.
    public struct CompanionFile: Sendable {
        /// FITS keyword: WEIGHT, RMS, VARIANCE, MASK or DETECT.
        public var keyword: String
        public var path: String
        /// SHA-256 of the file, in hexadecimal; `nil` if the user did not ask for it.
        public var digest: String?

        /// What the file is, as the keyword's comment.
        var comment: String {
            keyword == CompanionFile.detection ? "where its sources were found" : "what the pixels are worth"
        }

        /// The keyword of its digest; the short form leaves room for a number of three digits.
        var digestKeyword: (whole: String, brief: String) {
            switch keyword {
            case "MASK": ("MASKSHA", "MSHA")
            case CompanionFile.detection: ("DETSHA", "DSHA")
            default: ("NOISESHA", "NSHA")
            }
        }

        /// The keyword of a detection image.
        package static let detection = "DETECT"

        /// The short keyword, which leaves room for a number of three digits.
        var briefKeyword: String {
            switch keyword {
            case "WEIGHT": "WHT"
            case "VARIANCE": "VAR"
            case CompanionFile.detection: "DETEC"
            default: String(keyword.prefix(5))
            }
        }
    }

    /// One section for each image, in the order in which the user named them.
    public var sections: [Section]
    /// The configuration that the user asked for; each image's header completes it.
    public var configuration: ScanConfiguration

    /// Whether each source names its image.
    public var namesImages: Bool

    /// The catalogue of some images.
    ///
    /// - Parameter namesImages: `nil` names images if there are several.
    public init(_ sections: [Section], configuration: ScanConfiguration, namesImages: Bool? = nil) {
        self.sections = sections
        self.configuration = configuration
        self.namesImages = namesImages ?? (sections.count > 1)
    }

    package var columns: [CatalogueColumn] {
        CatalogueColumn.all(
            configuration.columns, apertures: configuration.apertureDiameters.count, withFile: namesImages,
            unit: unit ?? "")
    }

    /// The unit of all images: `count` if none names a unit, `nil` if they differ.
    package var unit: String? {
        let units = Set(sections.map(\.keywords.unit))
        return units.count > 1 ? nil : units.first.flatMap { $0 } ?? "count"
    }

    /// The configuration with which an image was scanned.
    package func configuration(of section: Section) -> ScanConfiguration {
        configuration.completed(by: section.keywords)
    }

    /// All sources, with running numbers.
    package var rows: [CatalogueRow] {
        var rows: [CatalogueRow] = []
        rows.reserveCapacity(sections.reduce(0) { $0 + $1.sources.count })
        for section in sections {
            let zeroPoint = configuration(of: section).zeroPoint ?? 0
            for (index, source) in section.sources.enumerated() {
                rows.append(
                    CatalogueRow(
                        number: rows.count + 1, numberInImage: index + 1, source: source,
                        zeroPoint: zeroPoint, image: section.image))
            }
        }
        return rows
    }

    /// The catalogue of one of its images alone.
    func only(_ section: Section) -> CatalogueTable {
        CatalogueTable([section], configuration: configuration, namesImages: namesImages)
    }

    /// Writes the catalogue completely, or not at all.
    ///
    /// - Parameter overwriting: Whether it takes the place of any file, and not only of an earlier catalogue.
    /// - Throws: `SkyError` naming the file and the reason.
    public func write(
        _ format: CatalogueFormat, to path: String, overwriting: Bool = false
    ) throws(SkyError) {
        let files = StagedFiles(overwrites: overwriting)
        try write(format, to: path, among: files)
        try files.place()
    }

    /// Writes the catalogue as one of several files, which get their places together.
    ///
    /// - Throws: `SkyError` naming the file and the reason.
    package func write(_ format: CatalogueFormat, to path: String, among files: StagedFiles) throws(SkyError) {
        switch format {
        case .fits: try writeFITS(to: path, among: files)
        case .ldac: try writeLDAC(to: path, among: files)
        case .csv: try files.write(csv(), to: path, as: .catalogue)
        case .ecsv: try files.write(ecsv(), to: path, as: .catalogue)
        case .votable: try files.write(votable(), to: path, as: .catalogue)
        case .ndjson: try files.write(ndjson(), to: path, as: .catalogue)
        case .regions: try files.write(regions(), to: path, as: .catalogue)
        }
    }
}
