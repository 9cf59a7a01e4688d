import Base
import Sky
import SkyCore
import SkyJobs

/// The images that `skynode scan` scans, the job of each, and where its results go.
///
/// It is a value, made of the options and of the contents of the files that they name. It looks at no file itself; `PreparedScan`
/// does.
struct ScanPlan: Sendable {
    /// The settings from the options and from the files that they name.
    struct Settings: Sendable {
        var configuration: ScanConfiguration
        var output: OutputPlace
        /// The parts of each image that are scanned: the whole image, or its colours one after the other.
        var layers = [ImageLayer()]
        var truth: [TruthSource]?
        /// Artificial stars for every image; `nil` for none.
        var injection: InjectionDemand?
    }

    /// A FITS image, with the files that belong to it.
    struct Source: Sendable {
        /// The name as the user wrote it.
        var name: String
        var image: ImageReference
    }

    private(set) var items: [ScanItem] = []
    /// Folder and name of each image's results.
    private(set) var stems: Set<String> = []
    /// The reasons why the other images cannot be scanned.
    private(set) var refusals: [SkyError]
    /// The image with which these are compared; `nil` for no comparison.
    let reference: ScanItem?
    /// How far coordinates may be off in a comparison, in arcseconds; `nil` for the default.
    let coordinateError: Double?
    /// The number of stars that a comparison puts into a copy of each image.
    let injectedChanges: Int
    /// Whether the difference of each image to the reference is written.
    let writesDifference: Bool
    let configuration: ScanConfiguration
    let truth: [TruthSource]?
    /// Artificial stars for every image; `nil` for none.
    let injection: InjectionDemand?
    let output: OutputPlace
    /// Whether one catalogue of all images is requested for a file that turns out to hold several images.
    let mergesImagesOfOne: Bool
    private let layers: [ImageLayer]
    private let options: ScanOptions

    /// Longest side of the picture in pixels: sharp on a large screen, quickly drawn.
    static let pictureSide = 1600

    /// Makes a plan without images.
    ///
    /// - Parameters:
    ///   - reference: the image with which the others are compared; `nil` for none.
    ///   - refusals: the reasons why some files are not even examined.
    /// - Throws: `SkyError` where the reference's job is not valid.
    init(
        _ options: ScanOptions, _ settings: Settings, reference: Source? = nil, refusals: [SkyError] = []
    ) throws(SkyError) {
        self.options = options
        self.refusals = refusals
        (configuration, output, layers) = (settings.configuration, settings.output, settings.layers)
        (truth, injection) = (settings.truth, settings.injection)
        coordinateError = options.comparison.coordinateError
        injectedChanges = options.comparison.injectChanges ?? InjectedChange.usualCount
        writesDifference = options.comparison.difference
        mergesImagesOfOne = !options.files.noMerge
        if let reference {
            var purpose = ScanPurpose()
            (purpose.isReference, purpose.isCompared) = (true, true)
            var request = SkyRequest(image: reference.image, configuration: settings.configuration)
            request.purpose = purpose
            self.reference = ScanItem(
                name: reference.name, path: reference.image.path, request: try ScanPlan.job(request, options),
                stem: settings.output.folder + "/" + ImageName.stem(reference.name))
        } else {
            self.reference = nil
        }
    }

    /// Whether files that the program has not made are replaced.
    var overwrites: Bool { options.output.replacing.overwrite }

    /// The files that are written for each image.
    var files: [ResultFile] {
        var files = options.output.checkImages?.images.map { ResultFile(ending: $0.ending, kind: .checkImage) } ?? []
        guard !output.isFile else { return files }
        files += output.formats.map(ResultFile.catalogue)
        if !options.files.noPicture { files += ResultFile.pictures }
        if reference != nil {
            files += ResultFile.changes
            if writesDifference { files.append(ResultFile(ending: DifferenceFile.ending, kind: .difference)) }
        }
        if injection != nil { files += options.files.noPicture ? [.injection] : [.injection, .injectionPlot] }
        return files
    }

    /// The catalogues of all images.
    var merged: [(path: String, format: CatalogueFormat)] {
        guard merges else { return [] }
        return output.merged(besides: stems)
            + (options.files.keepPartial ? output.merged(besides: stems, isPartial: true) : [])
    }

    /// Whether a catalogue of all images is requested.
    var merges: Bool { output.isFile || (items.count > 1 && mergesImagesOfOne) }

    /// Adds an image, or its colours.
    ///
    /// - Throws: `SkyError` where its job is not valid.
    mutating func add(_ source: Source) throws(SkyError) {
        for layer in layers {
            var image = source.image
            image.layer = layer.isPlain ? nil : layer
            let job = try ScanPlan.job(request(image), options)
            let colour = layer.bayer?.colour.rawValue
            let name = uniqueName(ImageName.stem(source.name) + (colour.map { "-" + $0 } ?? ""))
            items.append(
                ScanItem(
                    name: source.name + (colour.map { "[\($0)]" } ?? ""), path: image.path, request: job,
                    token: "\(JobID.random())", stem: output.folder + "/" + name))
        }
    }

    /// Records a file that cannot be scanned, and goes on. One bad file of a night is no reason to leave out the others.
    mutating func refuse(_ error: SkyError) { refusals.append(error) }

    /// - Throws: `SkyError` or `CommandFailure` where there is nothing to be scanned.
    func checkIsNotEmpty() throws {
        guard items.isEmpty else { return }
        if let error = refusals.first { throw error }
        throw CommandFailure(.usage, "every image is another one's weights or mask")
    }

    /// Makes a name unique, because two images with the same name in different folders must not overwrite each other's catalogue.
    private mutating func uniqueName(_ name: String) -> String {
        var unique = name
        var number = 2
        while !stems.insert(output.folder + "/" + unique).inserted {
            unique = "\(name)-\(number)"
            number += 1
        }
        return unique
    }

    private func request(_ image: ImageReference) -> SkyRequest {
        var purpose = ScanPurpose()
        (purpose.isCompared, purpose.coordinateError) = (reference != nil, coordinateError)
        purpose.injection = injection
        var request = SkyRequest(image: image, configuration: configuration)
        request.purpose = purpose == ScanPurpose() ? nil : purpose
        request.pictureSide = options.files.noPicture || output.isFile ? nil : ScanPlan.pictureSide
        request.checkImages = options.output.checkImages?.images
        return request
    }

    /// The job of a scan, with the settings of the options.
    private static func job(_ scan: SkyRequest, _ options: ScanOptions) throws(SkyError) -> JobRequest {
        var request = scan
        request.usesCache = !options.job.noCache
        request.failSector = options.job.failSector.map { $0 - 1 }
        var job = JobRequest(.sky(request))
        options.flags.apply(to: &job)
        try job.validate()
        return job
    }
}
