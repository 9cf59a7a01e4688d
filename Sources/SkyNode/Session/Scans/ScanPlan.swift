import Base
import Glibc
import Sky
import SkyCore
import Transport

/// What `skynode scan` was asked for, checked before any work is done.
struct ScanPlan: Sendable {
    /// One image and where its results go.
    struct Item: Sendable {
        /// As the user wrote it, for messages.
        var name: String
        /// Resolved.
        var path: String
        var request: JobRequest
        /// Folder and name without an ending.
        var stem: String
        /// Of a file with several images, which this is.
        var hdu: Int?
        /// Of a colour image, which plane this is.
        var plane: Int?
        /// Its place among the images of its file.
        var order: Int { (hdu ?? 0) * (ImageCube.colours + 1) + (plane ?? 0) }

        /// What of its HDU it is.
        var layer: ImageLayer? {
            if let request = request.kind.scan { request.image.layer } else { nil }
        }

        /// As one that is compared with a reference that has been scanned.
        func compared(with place: SkyCircle?) -> Item {
            var item = self
            if var request = item.request.kind.scan {
                request.purpose?.reference = place
                item.request.kind = .sky(request)
            }
            return item
        }

        /// The image on which its sources are found; `nil` for itself.
        var detection: DetectionImage? {
            if let request = request.kind.scan { request.image.detection } else { nil }
        }

        /// Its weights and mask.
        var companions: Companions? {
            if let request = request.kind.scan { request.image.companions } else { nil }
        }

        /// Another image of the same file.
        func of(hdu: Int, besides stems: Set<String>) -> Item {
            var item = named(hdu: hdu, besides: stems)
            if var request = item.request.kind.scan {
                request.image.hdu = hdu
                request.configuration.hdu = hdu
                item.request.kind = .sky(request)
            }
            return item
        }

        /// Another plane of the same image.
        func of(plane: Int, besides stems: Set<String>) -> Item {
            var item = named(plane: plane, besides: stems)
            if var request = item.request.kind.scan {
                var layer = request.image.layer ?? ImageLayer()
                layer.plane = plane
                request.image.layer = layer
                item.request.kind = .sky(request)
            }
            return item
        }

        /// As one of several planes.
        func named(plane: Int, besides stems: Set<String>) -> Item {
            var item = self
            item.plane = plane
            item.name += "[plane \(plane)]"
            repeat { item.stem += "-plane\(plane)" } while stems.contains(item.stem)
            return item
        }

        /// As one of several images.
        ///
        /// - Parameter stems: those of all files, which this must not overwrite.
        func named(hdu: Int, besides stems: Set<String>) -> Item {
            var item = self
            item.hdu = hdu
            item.name += "[\(hdu)]"
            repeat { item.stem += "-hdu\(hdu)" } while stems.contains(item.stem)
            return item
        }
    }

    let items: [Item]
    /// Folder and name of each image's results.
    let stems: Set<String>
    /// The image that these are compared with; `nil` for no comparison.
    let reference: Item?
    /// How far coordinates may be off in a comparison, in arcseconds; `nil` for what is usual.
    let coordinateError: Double?
    /// Stars that a comparison puts into each image's copy.
    let injectedChanges: Int
    /// Whether the difference of each image to the reference is written.
    let writesDifference: Bool
    /// Why others of the images cannot be scanned.
    let refusals: [String]
    let configuration: ScanConfiguration
    let truth: [TruthSource]?
    /// Artificial stars for every image; `nil` for none.
    let injection: InjectionDemand?
    let output: OutputPlace
    /// Whether a catalogue of all images is wanted.
    let merges: Bool
    /// Whether one is wanted of a file that turns out to hold several.
    let mergesImagesOfOne: Bool
    private let outputExisted: Bool

    /// Longest side of the picture in pixels: sharp on a large screen, quickly drawn.
    static let pictureSide = 1600

    /// Files from which on a person would wonder what is going on before the first is scanned.
    private static let many = 1000

    /// - Parameter say: hears what is being looked at, where that takes long.
    /// - Throws: `SkyError` or `CommandFailure`, one line each; nothing has been written then.
    init(_ command: ScanCommand, say: (String) -> Void = { _ in }) throws {
        guard !command.images.isEmpty else {
            throw CommandFailure(.usage, "name at least one FITS image; see skynode scan --help")
        }
        try command.cluster.check()
        configuration = try command.detection.configuration(readsFiles: true)
        output = try command.output.place()
        if output.isStandardOutput { try command.checkStandardOutput(output) }
        let list = try ImageList(command.images)
        if list.images.count >= ScanPlan.many { say("looking at \(list.images.count) files") }
        if command.files.truth != nil, list.images.count > 1 {
            throw CommandFailure(.usage, "--truth goes with one image")
        }
        if command.comparison.reference != nil, command.job.detach {
            throw CommandFailure(.usage, "--reference compares when the scans are done; it does not go with --detach")
        }
        coordinateError = command.comparison.coordinateError
        if let error = coordinateError {
            guard command.comparison.reference != nil else {
                throw CommandFailure(.usage, "--coordinate-error goes with --reference")
            }
            guard (0.001...36_000).contains(error) else {
                throw CommandFailure(.usage, "--coordinate-error \(error): it must be 0.001 to 36000 seconds of arc")
            }
        }
        injectedChanges = command.comparison.injectChanges ?? InjectedChange.usualCount
        if let count = command.comparison.injectChanges {
            guard command.comparison.reference != nil else {
                throw CommandFailure(.usage, "--inject-changes goes with --reference")
            }
            guard (0...InjectedChange.countLimit).contains(count) else {
                throw CommandFailure(
                    .usage, "--inject-changes \(count): the number of stars must be 0 to \(InjectedChange.countLimit)")
            }
        }
        writesDifference = command.comparison.difference
        if writesDifference, command.comparison.reference == nil {
            throw CommandFailure(.usage, "--difference goes with --reference")
        }
        if let sector = command.job.failSector, sector < 1 {
            throw CommandFailure(.usage, "--fail-sector counts sectors from 1")
        }
        truth = try command.files.truth.map { try TruthCatalogue.read($0) }
        injection = try command.injection.demand(zeroPoint: configuration.zeroPoint)
        if injection != nil, command.job.detach {
            throw CommandFailure(.usage, "--inject and --detach contradict each other: somebody must wait to compare")
        }
        let layers = try command.layers.layers()
        if injection != nil, layers.count > 1 {
            throw CommandFailure(.usage, "--inject does not go with --bayer: its report is in a colour's own pixels")
        }
        if command.comparison.reference != nil, output.isFile {
            throw CommandFailure(.usage, "--reference writes files of its own: let --output name a folder")
        }
        if injection != nil, output.isFile {
            throw CommandFailure(.usage, "--inject writes files of its own: let --output name a folder")
        }
        if command.output.checkImages != nil {
            guard layers.count == 1 else {
                throw CommandFailure(
                    .usage, "--check-image does not go with --bayer: a colour is every second pixel of the frame")
            }
            guard !output.isStandardOutput else {
                throw CommandFailure(.usage, "--check-image writes files: let --output name a file or a folder")
            }
            guard !command.job.detach else {
                throw CommandFailure(
                    .usage, "--check-image and --detach contradict each other: somebody must wait to write")
            }
        }
        let (scan, place) = (configuration, output)
        if command.comparison.reference != nil, layers.count > 1 {
            throw CommandFailure(
                .usage, "--reference compares one image with one: it does not go with --bayer, which makes four of each"
            )
        }
        reference = try command.comparison.reference.map { file in
            var image = ImageReference(path: try ScanPlan.resolved(file), hdu: scan.hdu, layer: layers[0])
            image.companions = try command.companions.companions(of: file)
            var purpose = ScanPurpose()
            (purpose.isReference, purpose.isCompared) = (true, true)
            let job = try ScanPlan.job(image, command, scan, purpose, withPicture: false, isReference: true)
            return Item(name: file, path: image.path, request: job, stem: place.folder + "/" + ScanPlan.stem(file))
        }
        let detection = try command.dual.detection()
        var purpose = ScanPurpose()
        (purpose.isCompared, purpose.coordinateError) = (
            command.comparison.reference != nil, command.comparison.coordinateError
        )
        purpose.injection = injection
        var items: [Item] = []
        var stems: Set<String> = []
        // A folder holds the weights of its images too.
        let companions = Set(list.images.flatMap { command.companions.files(of: $0.name) })
        var refusals = list.refusals
        for file in list.images {
            let image = file.name
            var reference: ImageReference
            do {
                try FITSSniff.check(path: image)
                reference = ImageReference(path: file.path, hdu: configuration.hdu, layer: layers[0])
                if list.images.count > 1, companions.contains(reference.path) { continue }
                reference.companions = try command.companions.companions(of: image)
                reference.detection = detection
            } catch let error as SkyError {
                refusals.append(error)
                continue
            }
            for layer in layers {
                reference.layer = layer.isPlain ? nil : layer
                let job = try ScanPlan.job(reference, command, scan, purpose, withPicture: !place.isFile)
                let colour = layer.bayer?.colour.rawValue
                // Two images of one name in different folders must not overwrite each other's catalogue.
                let stem = ScanPlan.stem(image) + (colour.map { "-" + $0 } ?? "")
                var unique = stem
                var number = 2
                while !stems.insert(unique).inserted {
                    unique = "\(stem)-\(number)"
                    number += 1
                }
                items.append(
                    Item(
                        name: image + (colour.map { "[\($0)]" } ?? ""), path: reference.path, request: job,
                        stem: output.folder + "/" + unique))
            }
        }
        // One bad file of a night is no reason to leave the others.
        if items.isEmpty, let error = refusals.first { throw error }
        if items.isEmpty { throw CommandFailure(.usage, "every image is another one's weights or mask") }
        self.items = items
        self.stems = Set(items.map(\.stem))
        self.refusals = refusals.map(\.message)
        merges = output.isFile || (items.count > 1 && !command.files.noMerge)
        mergesImagesOfOne = !command.files.noMerge
        outputExisted = access(output.folder, F_OK) == 0
        try output.prepare(stems: self.stems)
    }

    private static func job(
        _ image: ImageReference, _ command: ScanCommand, _ configuration: ScanConfiguration, _ purpose: ScanPurpose,
        withPicture: Bool, isReference: Bool = false
    ) throws -> JobRequest {
        var request = SkyRequest(image: image, configuration: configuration)
        request.usesCache = !command.job.noCache
        request.pictureSide = command.files.noPicture || !withPicture ? nil : ScanPlan.pictureSide
        request.purpose = purpose == ScanPurpose() ? nil : purpose
        request.failSector = command.job.failSector.map { $0 - 1 }
        request.checkImages = isReference ? nil : command.output.checkImages?.images
        var job = JobRequest(.sky(request))
        command.flags.apply(to: &job)
        try job.validate()
        return job
    }

    private static func resolved(_ image: String) throws(SkyError) -> String {
        try FITSSniff.check(path: image, showsStart: true)
        guard let path = ImageList.whole(image) else {
            throw SkyError(.badInput, "\(PrintableText.of(image)): \(String(cString: strerror(errno)))")
        }
        return path
    }

    /// The file's name without folder and without the endings FITS files have.
    static func stem(_ path: String) -> String {
        var name = path.split(separator: "/").last.map(String.init) ?? "image"
        for ending in [".gz", ".fz"] where name.count > ending.count && name.lowercased().hasSuffix(ending) {
            name.removeLast(ending.count)
        }
        for ending in [".fits", ".fit", ".fts"] where name.count > ending.count && name.lowercased().hasSuffix(ending) {
            name.removeLast(ending.count)
        }
        return name
    }

    /// The name of the results of a job that is one of several of its file: the planes and the colours of one are jobs of their own.
    static func stem(of image: ImageReference) -> String {
        let plane = image.layer?.plane.map { "-plane\($0)" } ?? ""
        let colour = image.layer?.bayer.map { "-" + $0.colour.rawValue } ?? ""
        return stem(image.path) + plane + colour
    }

    /// After a failure: a folder that was made for results and got none goes again.
    func removeOutputFolderIfUnused() {
        if !outputExisted { rmdir(output.folder) }
    }
}
