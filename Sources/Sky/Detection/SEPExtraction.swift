import Base
import CSEP
import NIOConcurrencyHelpers

/// Detection and deblending as by `sep_extract`: the settings of a scan, and one call. Our own ``ObjectSearch`` does what it can;
/// SEP itself does the rest, which is filters with weights that are not normed, and rectangles beyond SEP's limits.
struct SEPExtraction {
    /// The threshold in units of the image's noise.
    let threshold: Double
    let minimumArea: Int
    let deblendContrast: Double
    let gain: Double
    /// The noise of the image (1 sigma), one number for the whole image.
    let noise: Float

    let kernel: DetectionKernel
    /// The largest number of pixels that SEP may hold at once.
    var stackLimit = SEPExtraction.pixelStackLimit
    /// The largest number of branches of one footprint at one level.
    var branchesLimit = SEPExtraction.branchLimit

    /// SEP keeps the stack's size in bytes in 32 bits, at 28 bytes a pixel.
    static let pixelStackLimit = 70_000_000
    /// SEP counts sub-objects in 16 bits.
    static let branchLimit = 32_767

    init(configuration: ScanConfiguration, noise: Float) {
        kernel = DetectionKernel(configuration.filter)
        // SEP norms all weights. So the threshold is divided by the scale, to find the same objects with the normed weights.
        threshold =
            configuration.threshold * (configuration.thresholdUnit == .filtered ? kernel.noiseFactor : 1)
            / Double(kernel.scale)
        minimumArea = configuration.minimumArea
        deblendContrast = configuration.deblendContrast
        gain = configuration.gain ?? 0
        self.noise = noise
    }

    /// Finds the objects of a rectangle of background-subtracted pixels without NaN.
    ///
    /// - Parameters:
    ///   - levels: Deblending levels; 1 leaves every footprint whole.
    ///   - pixelStack: For SEP, the first guess of the pixels that it holds at once.
    ///   - subObjects: For SEP, the first guess of the branches of one footprint at one level.
    /// - Returns: `nil` if SEP gives up at its own hard limits.
    /// - Throws: `.failed` naming `place` if SEP fails.
    func run(
        pixels: UnsafePointer<Float>, width: Int, height: Int, levels: Int, pixelStack: Int, subObjects: Int,
        place: @autoclosure () -> String
    ) throws(SkyError) -> DetectionList? {
        if let found = search(pixels, width: width, height: height, levels: levels) { return found }
        return try runSEP(
            pixels: pixels, width: width, height: height, levels: levels, pixelStack: pixelStack,
            subObjects: subObjects, place: place())
    }

    /// Finds the objects by our own search; `nil` if only SEP can find them, or find out that there are too many.
    func search(_ pixels: UnsafePointer<Float>, width: Int, height: Int, levels: Int) -> DetectionList? {
        // SEP refuses what goes beyond its limits. No rectangle this small does.
        let mostBranches = levels > 1 ? width * height / min(minimumArea, 3) + 2 : 0
        guard kernel.scale == 1, width * height + 2 < stackLimit, mostBranches <= branchesLimit else { return nil }
        let search = ObjectSearch(
            kernel: kernel, threshold: Float(threshold) * noise, minimumArea: minimumArea, levels: levels,
            contrast: deblendContrast)
        return search.objects(pixels, width: width, height: height).map { DetectionList($0.found, $0.list) }
    }

    /// SEP's two limits are global to the process, and SEP lays out its memory by them many times during a call. A change in
    /// between corrupts the heap. Workers have one thread; tests have many.
    private static let limits = NIOLock()

    /// Finds the objects by SEP.
    ///
    /// SEP 1.2.1 itself leaks six small blocks of its catalogue in each call (valgrind), some 200 bytes for each blend. So a
    /// worker that runs for a long time should be replaced now and then.
    ///
    /// - Parameters:
    ///   - levels: Deblending levels; 1 leaves every footprint whole.
    ///   - pixelStack: First guess of the pixels that SEP holds at once; it is raised as long as SEP says that it is too
    ///     small.
    ///   - subObjects: First guess of the branches of one footprint at one level; it is raised in the same way.
    /// - Returns: `nil` if SEP gives up at its own hard limits.
    /// - Throws: `.failed` naming `place` for any other error, also if this worker has too little memory: another worker may
    ///   have more, and the result must not depend on that.
    func runSEP(
        pixels: UnsafePointer<Float>, width: Int, height: Int, levels: Int, pixelStack: Int, subObjects: Int,
        place: @autoclosure () -> String
    ) throws(SkyError) -> DetectionList? {
        var stack = min(max(pixelStack, 1024), stackLimit)
        var branches = min(max(subObjects, 16), branchesLimit)
        while true {
            var catalogue: UnsafeMutablePointer<sep_catalog>?
            let status = Self.limits.withLock {
                sep_set_extract_pixstack(stack)
                sep_set_sub_object_limit(Int32(branches))
                return extract(pixels, width, height, levels, &catalogue)
            }
            defer { sep_catalog_free(catalogue) }
            switch status {
            case 0:
                guard let catalogue else { return DetectionList() }
                var found = DetectionList(catalogue.pointee)
                if kernel.scale != 1 { found.scale(by: kernel.scale, pixels: pixels) }
                return found
            case SEPError.pixelStackFull where stack < stackLimit:
                stack = min(stack * 4, stackLimit)
            case SEPError.deblendOverflow where branches < branchesLimit:
                branches = min(branches * 4, branchesLimit)
            case SEPError.pixelStackFull, SEPError.deblendOverflow:
                return nil
            default:
                throw SkyError(.failed, "\(place()): \(SEPError.words(status))")
            }
        }
    }

    private func extract(
        _ pixels: UnsafePointer<Float>, _ width: Int, _ height: Int, _ levels: Int,
        _ catalogue: inout UnsafeMutablePointer<sep_catalog>?
    ) -> Int32 {
        var image = sep_image()
        image.data = UnsafeRawPointer(pixels)
        image.dtype = SEP_TFLOAT
        image.w = Int32(width)
        image.h = Int32(height)
        image.noiseval = Double(noise)
        image.noise_type = Int16(SEP_NOISE_STDDEV)
        image.gain = gain
        // SEP must not apply CLEAN, because it compares all objects of the call, so the result would depend on the sector.
        return kernel.values.withUnsafeBufferPointer { values in
            sep_extract(
                &image, Float(threshold), SEP_THRESH_REL, Int32(minimumArea), values.isEmpty ? nil : values.baseAddress,
                Int32(kernel.width), Int32(kernel.height), SEP_FILTER_CONV, Int32(levels), deblendContrast, 0, 1,
                &catalogue)
        }
    }
}

extension DetectionList {
    /// Converts objects that were found with normed weights to weights that are larger by a factor.
    fileprivate mutating func scale(by factor: Float, pixels image: UnsafePointer<Float>) {
        for index in objects.indices {
            objects[index].threshold *= factor
            objects[index].filteredFlux *= factor
            let threshold = objects[index].threshold
            objects[index].area = pixels[objects[index].pixels].count { image[Int($0)] > threshold }
        }
    }

    /// Copies the objects of a search. Objects whose position is not a number are left out.
    init(_ found: [FoundObject], _ list: PixelList) {
        objects.reserveCapacity(found.count)
        for part in found where part.x.isFinite && part.y.isFinite {
            var object = Detection(
                x: Detection.rounded(part.x), y: Detection.rounded(part.y), a: part.a, b: part.b, theta: part.theta,
                cxx: part.cxx, cyy: part.cyy, cxy: part.cxy, filteredFlux: part.filteredFlux, flux: part.flux,
                peak: part.peak, threshold: part.threshold, area: part.area, flags: part.flags, minX: part.minX,
                maxX: part.maxX, minY: part.minY, maxY: part.maxY, pixels: 0..<0)
            object.outline = object.bounds
            append(object, pixels: part.pixels.lazy.map { list.places[Int($0)] })
            filtered.append(contentsOf: part.pixels.lazy.map { list.filtered[Int($0)] })
        }
    }

    /// Copies SEP's catalogue. Objects whose position is not a number are left out.
    init(_ catalogue: sep_catalog) {
        objects.reserveCapacity(Int(catalogue.nobj))
        for index in 0..<Int(catalogue.nobj) where catalogue.x[index].isFinite && catalogue.y[index].isFinite {
            var object = Detection(
                x: Detection.rounded(catalogue.x[index]), y: Detection.rounded(catalogue.y[index]),
                a: catalogue.a[index], b: catalogue.b[index], theta: catalogue.theta[index],
                cxx: catalogue.cxx[index], cyy: catalogue.cyy[index], cxy: catalogue.cxy[index],
                filteredFlux: catalogue.cflux[index], flux: catalogue.flux[index], peak: catalogue.peak[index],
                threshold: catalogue.thresh[index], area: Int(catalogue.tnpix[index]), flags: catalogue.flag[index],
                minX: Int(catalogue.xmin[index]), maxX: Int(catalogue.xmax[index]),
                minY: Int(catalogue.ymin[index]), maxY: Int(catalogue.ymax[index]), pixels: 0..<0)
            object.outline = object.bounds
            append(object, pixels: UnsafeBufferPointer(start: catalogue.pix[index], count: Int(catalogue.npix[index])))
        }
    }
}
