import Base

/// The source that each pixel belongs to, as the photometry needs it: the number of a source from 1, 0 for the sky, and
/// `nobody` for a pixel that is above the threshold but is part of no source.
///
/// As in SExtractor, every pixel above the threshold is hidden from the apertures of all sources but its own. This holds for
/// specks that are too small for a source too. A source that CLEAN gives to a brighter one becomes part of that one, and is
/// hidden from no source. Only the merge of all sectors decides whether CLEAN gives it away, and distant sources may matter in
/// that decision; the photometry must not depend on it. Therefore a source sees the pixels of those sources that it could take
/// out itself, and of those that another source close by could take out.
final class SegmentMap {
    private let objects: DetectionList
    private let width: Int
    private let height: Int
    private let memory: ZeroedMemory<Int32>
    private let labels: UnsafeMutablePointer<Int32>
    /// The claims of sources on others, by the square where the weak source lies.
    private let claims: [Square: [Claim]]

    private let filter: PixelFilter
    private let threshold: Float
    /// Whether each tile has been searched for specks, row by row. Most sources need few tiles.
    private let isSearched: UnsafeMutablePointer<Bool>
    private let tiles: Int
    private let columnsOfTiles: Int

    /// A source that takes out another one.
    private struct Claim {
        let strong: Int
        let weak: Int
        /// The line from which on the pixels of the weak source stay hidden. SExtractor gives them back when the later of the
        /// two sources is complete, and hides a line only after the filter has passed over it. So the lines that it hides after
        /// that stay hidden for good.
        let end: Int

        init(_ strong: Int, _ weak: Int, objects: DetectionList, filterRadius: Int) {
            (self.strong, self.weak) = (strong, weak)
            let last = max(objects.objects[strong].turn.line, objects.objects[weak].turn.line)
            end = last + 1 - filterRadius
        }
    }

    /// A square of the image. Claims are looked up by the square that holds the weak source.
    private struct Square: Hashable {
        var column: Int
        var row: Int
    }

    /// The side of a square in pixels.
    private static let square = 64
    /// The side of a tile in pixels. In larger tiles much would be searched that no aperture needs; smaller ones have too many
    /// pixels around their lines.
    private static let tile = 16
    /// The label of a pixel that is above the threshold and belongs to no source. It is positive, because `KronMoment` leaves out only
    /// pixels with a label above zero.
    private static let nobody = Int32.max

    /// - Parameter pixels: The rectangle that was searched; the caller owns the memory and keeps it alive.
    /// - Throws: `.failed` where there is too little memory.
    init(
        _ objects: DetectionList, profiles: [CleanProfile]?, pixels: UnsafePointer<Float>, rect: PixelRect,
        configuration: ScanConfiguration
    ) throws(SkyError) {
        self.objects = objects
        (width, height) = (rect.width, rect.height)
        let kernel = DetectionKernel(configuration.filter)
        filter = PixelFilter(pixels, width: rect.width, height: rect.height, kernel: kernel)
        // One threshold holds for the whole image, whose pixels are scaled to the same noise everywhere.
        threshold = objects.objects.first?.threshold ?? .infinity
        memory = try ZeroedMemory(count: rect.area)
        labels = memory.start
        columnsOfTiles = (rect.width - 1) / Self.tile + 1
        tiles = columnsOfTiles * ((rect.height - 1) / Self.tile + 1)
        isSearched = .allocate(capacity: tiles)
        isSearched.initialize(repeating: false, count: tiles)
        for (index, object) in objects.objects.enumerated() {
            for pixel in objects.pixels[object.pixels] { labels[Int(pixel)] = Int32(index) + 1 }
        }
        var claims: [Square: [Claim]] = [:]
        if let profiles, let exponent = configuration.cleanParameter {
            let positions = objects.objects.map { (x: $0.x, y: $0.y) }
            Cleaner(profiles: profiles, positions: positions, exponent: exponent).forEachPair { strong, weak in
                let (x, y) = objects.objects[weak].pixel
                claims[Square(column: max(0, x) / Self.square, row: max(0, y) / Self.square), default: []].append(
                    Claim(strong, weak, objects: objects, filterRadius: kernel.radius))
            }
        }
        self.claims = claims
    }

    deinit {
        for pixel in objects.pixels { labels[Int(pixel)] = 0 }
        for index in 0..<tiles where isSearched[index] {
            let (left, top) = (index % columnsOfTiles * Self.tile, index / columnsOfTiles * Self.tile)
            let count = min(width, left + Self.tile) - left
            for y in top..<min(height, top + Self.tile) {
                (labels + y * width + left).update(repeating: 0, count: count)
            }
        }
        isSearched.deallocate()
        memory.isCleared()
    }

    /// The labels, row by row. Specks are marked only where ``search(columns:lines:)`` has searched.
    var segments: UnsafePointer<Int32> { UnsafePointer(labels) }

    /// Calls `body` while source `index` sees the pixels of sources that it, or another source close by, takes out as its own.
    func withSegments<Result>(of index: Int, _ body: () -> Result) -> Result {
        var ends: [Int: Int] = [:]
        // The first source that claims the weak one takes it out, and later claims do not count.
        for claim in claims(around: index) { ends[claim.weak] = min(ends[claim.weak] ?? claim.end, claim.end) }
        for (weak, end) in ends { label(weak, Int32(index) + 1, before: end) }
        defer { for (weak, end) in ends { label(weak, Int32(weak) + 1, before: end) } }
        return body()
    }

    /// The claims whose two sources lie so close to this source that every sector that measures it sees them as a whole.
    private func claims(around index: Int) -> [Claim] {
        guard !claims.isEmpty else { return [] }
        let object = objects.objects[index]
        let (x, y) = object.pixel
        let sight = SegmentMap.sight(of: object)
        let near = PixelRect(x: x - sight, y: y - sight, width: 2 * sight + 1, height: 2 * sight + 1)
        var found: [Claim] = []
        for row in max(0, near.y) / Self.square...max(0, near.bottom) / Self.square {
            for column in max(0, near.x) / Self.square...max(0, near.right) / Self.square {
                for claim in claims[Square(column: column, row: row)] ?? [] where claim.weak != index {
                    if near.contains(objects.objects[claim.weak].outline),
                        near.contains(objects.objects[claim.strong].outline)
                    {
                        found.append(claim)
                    }
                }
            }
        }
        return found
    }

    /// How far around a source the claims are looked up, in pixels. The distance lies within what is read for the source in any
    /// case.
    static func sight(of object: Detection) -> Int {
        max(48, Int(Photometry.momentRadius * Ellipse(object).a))
    }

    /// Gives a source's pixels in the lines before `end` to another source.
    private func label(_ weak: Int, _ label: Int32, before end: Int) {
        for pixel in objects.pixels[objects.objects[weak].pixels] where Int(pixel) < end * width {
            labels[Int(pixel)] = label
        }
    }

    /// Makes sure that specks are marked in a part of the rectangle.
    func search(columns: Range<Int>, lines: Range<Int>) {
        guard let right = columns.last, let bottom = lines.last else { return }
        for row in lines.lowerBound / Self.tile...bottom / Self.tile {
            for column in columns.lowerBound / Self.tile...right / Self.tile
            where !isSearched[row * columnsOfTiles + column] {
                isSearched[row * columnsOfTiles + column] = true
                searchTile(column * Self.tile, row * Self.tile)
            }
        }
    }

    /// Filters the tile's pixels as SEP does, and compares the result with the threshold.
    private func searchTile(_ left: Int, _ top: Int) {
        let right = min(width, left + Self.tile)
        withUnsafeTemporaryAllocation(of: Float.self, capacity: Self.tile) { sums in
            guard let sums = sums.baseAddress else { return }
            for y in top..<min(height, top + Self.tile) {
                filter.run(y, left..<right, into: sums)
                mark(labels + y * width + left, sums, count: right - left)
            }
        }
    }

    /// Marks the pixels that are above the threshold and belong to no source.
    private func mark(_ row: UnsafeMutablePointer<Int32>, _ sums: UnsafePointer<Float>, count: Int) {
        // Most lines have no such pixel. Without a branch for each pixel, the processor compares four at a time.
        var isAny: Int32 = 0
        for x in 0..<count { isAny |= sums[x] > threshold ? 1 : 0 }
        guard isAny != 0 else { return }
        for x in 0..<count where sums[x] > threshold && row[x] == 0 { row[x] = Self.nobody }
    }
}
