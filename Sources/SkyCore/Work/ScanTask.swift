/// One unit of a job: what a node is asked to do. Idempotent, so that it may be tried again anywhere.
package struct ScanTask: Codable, Sendable {
    /// The kinds of work, with what each needs.
    package enum Work: Codable, Sendable {
        /// The rehearsal: takes its time and does nothing.
        case simulate(Simulation)
        /// Look at the header: is it an image, how large; and, if wanted, what does the whole file hold.
        case inspect(ImageReference, withContent: Bool?)
        /// Measure the background meshes of one sector's core.
        case background(ImageReference, Sector, ScanConfiguration)
        /// Measure how wide the stars of one sector are.
        case seeing(ImageReference, Sector, BackgroundMap, ScanConfiguration)
        /// Find and measure the sources of one sector.
        case extract(ImageReference, Sector, BackgroundMap, ScanConfiguration)
        /// Measure the objects that are larger than their sectors.
        case join(ImageReference, SectorUnion, BackgroundMap, ScanConfiguration)
        /// Compare two images in one place.
        case compare(CompareRequest.Image, CompareRequest.Image, CompareRequest.Work)
        /// Read a part of an image for another node.
        case pixels(PixelRequest)
        /// Draw the whole image small, for the picture.
        case preview(ImageReference, maximumSide: Int)
    }

    package var work: Work
    /// What people see: "sector 9".
    package var label: String
    /// Faults to rehearse; none in earnest work.
    package var rehearsal = Rehearsal()

    package init(_ work: Work, label: String) {
        self.work = work
        self.label = label
    }
}

extension ScanTask.Work {
    /// The pixels that it needs for certain, where it works on a part of an image.
    var pixels: (image: ImageReference, hdu: Int?, rect: PixelRect)? {
        switch self {
        case .background(let image, let sector, let configuration): (image, configuration.hdu, sector.core)
        case .seeing(let image, let sector, _, let configuration),
            .extract(let image, let sector, _, let configuration):
            (image, configuration.hdu, sector.padded)
        case .join(let image, let union, _, let configuration): (image, configuration.hdu, union.rect)
        case .simulate, .inspect, .compare, .preview, .pixels: nil
        }
    }
}

extension ScanTask {
    /// About what it takes in memory: the backgrounds that come with it are the most.
    var byteCount: Int {
        switch work {
        case .seeing(let image, _, let background, _), .extract(let image, _, let background, _),
            .join(let image, _, let background, _):
            1024 + background.byteCount + (image.detection?.background?.byteCount ?? 0)
        case .compare(let new, let old, _): 4096 + new.background.byteCount + old.background.byteCount
        case .simulate, .inspect, .background, .pixels, .preview: 1024
        }
    }
}

/// Time that passes without a thread being blocked.
package struct Simulation: Codable, Sendable {
    package var duration: Duration

    package init(duration: Duration) {
        self.duration = duration
    }
}

/// Faults made on purpose, to see a retry.
package struct Rehearsal: Codable, Sendable {
    /// Fails, after its time. The coordinator takes it back once an attempt has failed: the first to be made may be overtaken by
    /// its twin, or never run.
    package var failsFirstAttempt = false
    /// Kills the process that runs the first attempt. A daemon obeys only where its operator allowed it.
    package var crashesFirstAttempt = false
    /// What every attempt does.
    package var poison: Poison?

    package init() {}

    var isAny: Bool { failsFirstAttempt || crashesFirstAttempt || poison != nil }
}

/// A fault that every attempt at a task shows.
package enum Poison: String, Codable, Sendable, CaseIterable {
    /// Crashes its worker process.
    case crash
    /// Never comes back.
    case hang
    /// Takes memory until there is none.
    case memory
    /// Kills the daemon, where its operator allowed it.
    case node
}

/// An image on disk, as every node that may scan it must see it.
package struct ImageReference: Codable, Sendable {
    /// Absolute path, the same on every node.
    package var path: String
    /// Which HDU, 0 for the primary; `nil` for the first with an image.
    package var hdu: Int?
    /// What of it; `nil` for all pixels of the only plane, or of the first.
    package var layer: ImageLayer?
    /// What the file is known to hold: one that holds something else is not the image that is meant.
    package var content: FileContent?
    /// A node that has the file and reads it for those that do not; `nil` where none is known.
    package var holder: PixelHolder?
    /// Weights and masks; `nil` for none.
    package var companions: Companions?
    /// Artificial stars to be added to it; `nil` for none.
    package var injection: Injection?
    /// Where its sources are found; `nil` for in itself.
    package var detection: DetectionImage?

    package init(path: String, hdu: Int?, layer: ImageLayer? = nil, content: FileContent? = nil) {
        self.path = path
        self.hdu = hdu
        self.layer = layer.flatMap { $0.isPlain ? nil : $0 }
        self.content = content
    }
}

extension ImageReference {
    /// A file and what it is known to hold.
    struct File {
        var path: String
        var content: FileContent
        var holder: PixelHolder?
    }

    /// Of the image and what belongs to it, as far as it is known.
    var contents: [File] {
        [
            (path, content), (companions?.noise?.path, companions?.noise?.content),
            (companions?.mask?.path, companions?.mask?.content),
            (detection?.image.path, detection?.image.content),
        ]
        .compactMap { path, content in
            guard let path, let content else { return nil }
            return File(path: path, content: content, holder: holder)
        }
    }
}
