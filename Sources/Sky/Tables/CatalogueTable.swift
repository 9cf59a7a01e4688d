import Base

/// A catalogue ready to be written: the sources of one image or of several, and the configuration that found them.
///
/// Equal catalogues are equal bytes in every format: fixed precision, no date, no name of a machine.
public struct CatalogueTable: Sendable {
    /// The sources of one image.
    public struct Section: Sendable {
        /// The image's name as the reader should see it.
        public var image: String
        /// SHA-256 of the file, in hexadecimal; `nil` where nobody asked for it.
        public var digest: String?
        /// Which weights and which mask the scan used, with the SHA-256 of each.
        public var companions: [CompanionFile] = []
        /// Which plane of a cube it is; `nil` of an image of one.
        public var plane: Int?
        /// What of its HDU the image is; `nil` for all of it.
        public var layer: ImageLayer?
        /// The header cards of the image, 80 characters each, for formats that hand them on.
        public var header: [String] {
            didSet { keywords = ImageKeywords(header) }
        }
        /// What they say about the camera, the light and the moment.
        public private(set) var keywords: ImageKeywords
        /// What the sources were found with.
        public var filter: DetectionFilter
        /// In the order in which they are numbered.
        public var sources: [Source]
        /// Whether they were found on another image.
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

    /// A file that says what an image's pixels are worth, or where its sources are.
    public struct CompanionFile: Sendable {
        /// FITS keyword: WEIGHT, RMS, VARIANCE, MASK or DETECT.
        public var keyword: String
        public var path: String
        /// SHA-256 of the file, in hexadecimal; `nil` where nobody asked for it.
        public var digest: String?

        /// What the file is, as the keyword's comment.
        var comment: String {
            keyword == CompanionFile.detection ? "where its sources were found" : "what the pixels are worth"
        }

        /// The keyword of its digest; the first letters where a number of three digits is to follow.
        var digestKeyword: (whole: String, brief: String) {
            switch keyword {
            case "MASK": ("MASKSHA", "MSHA")
            case CompanionFile.detection: ("DETSHA", "DSHA")
            default: ("NOISESHA", "NSHA")
            }
        }

        /// Of an image on which sources were found.
        package static let detection = "DETECT"

        /// The keyword where a number of three digits is to follow.
        var briefKeyword: String {
            switch keyword {
            case "WEIGHT": "WHT"
            case "VARIANCE": "VAR"
            case CompanionFile.detection: "DETEC"
            default: String(keyword.prefix(5))
            }
        }
    }

    /// One for each image, in the order in which they were named.
    public var sections: [Section]
    /// What the scan was asked to do; what it does not say, each image's header does.
    public var configuration: ScanConfiguration

    /// Whether each source says from which image it is.
    public var namesImages: Bool

    /// The catalogue of some images.
    ///
    /// - Parameter namesImages: `nil` where that depends on there being several.
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

    /// The unit of all images: `count` where none says one, `nil` where they differ.
    package var unit: String? {
        let units = Set(sections.map(\.keywords.unit))
        return units.count > 1 ? nil : units.first.flatMap { $0 } ?? "count"
    }

    /// What the scan of an image was done with.
    package func configuration(of section: Section) -> ScanConfiguration {
        configuration.completed(by: section.keywords)
    }

    /// All sources, numbered through.
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

    /// The catalogue of one of its images.
    func only(_ section: Section) -> CatalogueTable {
        CatalogueTable([section], configuration: configuration, namesImages: namesImages)
    }

    /// Writes the catalogue, whole or not at all.
    ///
    /// - Throws: `SkyError` naming the file and the reason.
    public func write(_ format: CatalogueFormat, to path: String) throws(SkyError) {
        switch format {
        case .fits: try writeFITS(to: path)
        case .ldac: try writeLDAC(to: path)
        case .csv: try AtomicFile.write(csv(), to: path)
        case .ecsv: try AtomicFile.write(ecsv(), to: path)
        case .votable: try AtomicFile.write(votable(), to: path)
        case .ndjson: try AtomicFile.write(ndjson(), to: path)
        case .regions: try AtomicFile.write(regions(), to: path)
        }
    }
}
