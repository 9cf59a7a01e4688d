import Base

/// Finds the objects of a rectangle of background-subtracted pixels, and splits blends one by one.
struct SectorDetector {
    private let frame: SectorFrame
    private let pixels: UnsafePointer<Float>
    private let extraction: SEPExtraction
    private let levels: Int

    /// SEP's default pixel stack; a larger one costs time in every call, and few sectors need it.
    private static let pixelStack = 300_000

    init(
        frame: SectorFrame, pixels: UnsafePointer<Float>, configuration: ScanConfiguration, noise: Float,
        pixelStackLimit: Int = SEPExtraction.pixelStackLimit, branchLimit: Int = SEPExtraction.branchLimit
    ) {
        self.frame = frame
        self.pixels = pixels
        var extraction = SEPExtraction(configuration: configuration, noise: noise)
        (extraction.stackLimit, extraction.branchesLimit) = (pixelStackLimit, branchLimit)
        self.extraction = extraction
        levels = configuration.deblendLevels
    }

    /// The connected footprints above the threshold, none of them split; `nil` if there are more than SEP can hold.
    func footprints() throws(SkyError) -> DetectionList? {
        let rect = frame.rect
        let all = try extraction.run(
            pixels: pixels, width: rect.width, height: rect.height, levels: 1, pixelStack: Self.pixelStack,
            subObjects: 1,
            place: "the \(rect.width) x \(rect.height) pixels at \(rect.x + 1), \(rect.y + 1)")
        guard var found = all else { return nil }
        for index in found.objects.indices {
            let object = found.objects[index]
            found.objects[index].isComplete = frame.isComplete(object)
            found.objects[index].turn = DetectionTurn(
                found.pixels[object.pixels], line: object.maxY, width: rect.width)
        }
        return found
    }

    /// The objects into which the footprints are split.
    func deblend(_ parents: DetectionList, _ filtered: FilteredPixels) throws(SkyError) -> DetectionList {
        let deblender = Deblender(extraction: extraction, levels: levels, rect: frame.rect, pixels: pixels)
        var result = DetectionList()
        result.pixels.reserveCapacity(parents.pixels.count)
        for parent in parents.objects {
            let footprint = parents.pixels[parent.pixels]
            guard levels > 1, filtered.hasSeveralSummits(footprint) else {
                result.append(parent, pixels: footprint)
                continue
            }
            switch try deblender.split(parent, footprint: footprint) {
            case .children(let children):
                for child in children.objects { result.append(child, pixels: children.pixels[child.pixels]) }
            case .single:
                result.append(parent, pixels: footprint)
            case .overflow:
                var undivided = parent
                undivided.isUndivided = true
                result.append(undivided, pixels: footprint)
            }
        }
        return result
    }
}
