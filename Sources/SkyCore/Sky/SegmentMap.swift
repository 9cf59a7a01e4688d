/// Which source each pixel belongs to, as the photometry sees it.
///
/// Every footprint hides its pixels from other sources' apertures. A source that CLEAN gives to a brighter one is
/// part of that one, as in SExtractor, but for all others it stays where it is: which of several claims it is settled
/// only when all sectors are merged, and the photometry must not depend on that.
struct SegmentMap {
    private let objects: DetectionList
    private var labels: [Int32]
    /// For each source those that it takes out.
    private let taken: [Int: [Int]]

    init(_ objects: DetectionList, profiles: [CleanProfile]?, configuration: ScanConfiguration, frame: SectorFrame) {
        self.objects = objects
        labels = [Int32](repeating: 0, count: frame.rect.area)
        for (index, object) in objects.objects.enumerated() {
            for pixel in objects.pixels[object.pixels] { labels[Int(pixel)] = Int32(index) + 1 }
        }
        var taken: [Int: [Int]] = [:]
        if let profiles, let exponent = configuration.cleanParameter {
            let positions = objects.objects.map { (x: $0.x, y: $0.y) }
            Cleaner(profiles: profiles, positions: positions, exponent: exponent).forEachPair { strong, weak in
                taken[strong, default: []].append(weak)
            }
        }
        self.taken = taken
    }

    /// Calls `body` with the map in which source `index` holds the pixels of the sources that it takes out.
    mutating func withSegments<Result>(
        of index: Int, _ body: (UnsafeMutableBufferPointer<Int32>) -> Result
    ) -> Result {
        let claimed = taken[index] ?? []
        return labels.withUnsafeMutableBufferPointer { labels in
            for other in claimed {
                for pixel in objects.pixels[objects.objects[other].pixels] { labels[Int(pixel)] = Int32(index) + 1 }
            }
            defer {
                for other in claimed {
                    for pixel in objects.pixels[objects.objects[other].pixels] { labels[Int(pixel)] = Int32(other) + 1 }
                }
            }
            return body(labels)
        }
    }
}
