import Base

/// Finds and measures the sources of images, in this process and without a cluster.
///
///     let scan = SkyScan()
///     let catalogue = try scan.catalogue(of: .file("m31.fits"))
///
/// The catalogue is the one that `skynode scan` writes with the same configuration, source by source.
public struct SkyScan: Sendable {
    /// The configuration, which decides which sources are found and how they are measured.
    public var configuration: ScanConfiguration

    /// A scan with SExtractor's defaults, unless the configuration says otherwise.
    public init(_ configuration: ScanConfiguration = ScanConfiguration()) {
        self.configuration = configuration
    }

    /// The sources of an image.
    ///
    /// The scan works on the thread that calls it, and keeps that thread busy: 25 million pixels a second on one core are
    /// usual. Foreign C libraries read the file and the header in this process (cfitsio, wcslib), and some damaged files crash
    /// them. So files from strangers should rather be given to `skynode`, whose worker processes may crash.
    ///
    /// - Throws: `SkyError` of kind `badInput` if the configuration is not valid or the image cannot be read, `failed` if the
    ///   image has more sources than can be held.
    public func catalogue(of image: SkyImage) throws(SkyError) -> Catalogue {
        var configuration = configuration
        let engine: SkyEngine
        var reference = ImageReference(path: "", hdu: configuration.hdu)
        switch image.storage {
        case .file(let path, let hdu, let layer):
            engine = SkyEngine()
            configuration.hdu = hdu ?? configuration.hdu
            try layer.validate()
            reference = ImageReference(path: path, hdu: configuration.hdu, layer: layer)
        case .pixels(let width, let height, let pixels, let header):
            engine = SkyEngine(try MemoryImage(width: width, height: height, pixels: pixels, header: header))
        }
        try configuration.validate()
        var request = SkyRequest(image: reference, configuration: configuration)
        request.usesCache = false
        // The scan goes through the same phases as every job, one piece of work after the other.
        var phases = ScanPhases(request)
        var count = phases.begin().newWork
        var number = 0
        while number < count {
            guard let work = phases.work(number) else {
                throw SkyError(.failed, "piece \(number) of a scan has no work")
            }
            let step = phases.completed(number, try engine.perform(work))
            if let error = step.abort { throw error }
            count += step.newWork
            number += 1
        }
        guard let catalogue = phases.catalogue else { throw SkyError(.failed, "a scan without a catalogue") }
        return catalogue
    }
}
