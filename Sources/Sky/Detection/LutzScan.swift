/// Finds connected pixels line by line (Lutz 1980, Comput. J. 23, 262); pixels touch at their corners too. SExtractor and SEP find
/// their objects in this way.
///
/// The pixels of an object come out in the order of SEP, because the sums over an object depend on it: a part of an object that
/// another one meets in a line is appended to that one as a whole.
final class LutzScan {
    /// A part of an object. Its pixels are chained from the first to the last.
    struct Part {
        var count = 0
        var first: Int32 = -1
        var last: Int32 = -1
        /// Whether a pixel lies at the edge of the image.
        var touchesEdge = false
    }

    /// What begins or ends in a column of the line before: the first run of an object, or a further one; the last run of an
    /// object, or an earlier one.
    private enum Marker {
        static let none: UInt8 = 0
        static let firstStart: UInt8 = 1
        static let start: UInt8 = 2
        static let end: UInt8 = 3
        static let lastEnd: UInt8 = 4
    }

    /// What is known of the object of the line before, at the column where the scan is.
    private enum State {
        case complete, incomplete, inside
    }

    private let size: Int
    private let markers: UnsafeMutablePointer<UInt8>
    /// The parts of the line before, by the column where they start.
    private let stored: UnsafeMutablePointer<Part>
    /// The parts that the scan is in, one around the other, and where they start and end in this line; -1 for not yet.
    private let parts: UnsafeMutablePointer<Part>
    private let starts: UnsafeMutablePointer<Int>
    private let ends: UnsafeMutablePointer<Int>
    private let states: UnsafeMutablePointer<State>

    /// For each pixel, the next one of the same object; -1 after the last.
    private(set) var next: UnsafeMutablePointer<Int32>
    private var capacity = 0

    /// - Parameter width: The number of columns of the image.
    init(width: Int) {
        // At most every other column starts a run, and as many runs of the line before have a mark; one puts off one state, the
        // other two.
        size = 2 * width + 8
        markers = .allocate(capacity: size)
        stored = .allocate(capacity: size)
        parts = .allocate(capacity: size)
        starts = .allocate(capacity: size)
        ends = .allocate(capacity: size)
        states = .allocate(capacity: size)
        next = .allocate(capacity: 0)
        markers.initialize(repeating: Marker.none, count: size)
        stored.initialize(repeating: Part(), count: size)
        parts.initialize(repeating: Part(), count: size)
        starts.initialize(repeating: -1, count: size)
        ends.initialize(repeating: -1, count: size)
        states.initialize(repeating: .complete, count: size)
    }

    deinit {
        for memory in [
            UnsafeMutableRawPointer(markers), UnsafeMutableRawPointer(stored), UnsafeMutableRawPointer(parts),
            UnsafeMutableRawPointer(starts), UnsafeMutableRawPointer(ends), UnsafeMutableRawPointer(states),
            UnsafeMutableRawPointer(next),
        ] { memory.deallocate() }
    }

    /// Makes room for pixels with numbers below `count`.
    func reserve(_ count: Int) {
        guard count > capacity else { return }
        let larger = UnsafeMutablePointer<Int32>.allocate(capacity: 2 * count)
        larger.update(from: next, count: capacity)
        next.deallocate()
        (next, capacity) = (larger, 2 * count)
    }

    /// The pixels of a part in their order.
    func forEachPixel(of part: Part, _ body: (Int32) -> Void) {
        var pixel = part.first
        while pixel >= 0 {
            body(pixel)
            pixel = next[Int(pixel)]
        }
    }

    /// Scans a line. A line without pixels must follow the last one.
    ///
    /// - Parameters:
    ///   - columns: At most as many as the image has.
    ///   - pixel: The number of the pixel in a column, if it is above the threshold; negative otherwise.
    ///   - touchesEdge: Whether the pixel of a column lies at the edge of the image.
    ///   - skip: The first column from the given one on that may have a pixel above the threshold.
    ///   - found: Is called with each object that is over.
    @inline(__always)
    func line(
        _ columns: Range<Int>, pixel: (Int) -> Int32, touchesEdge: (Int) -> Bool, skip: (Int) -> Int,
        found: (Part) -> Void
    ) {
        var (state, isInside) = (State.complete, false)
        // The parts around the scan, and the states that are put off.
        var (depth, waiting) = (0, 0)
        var x = columns.lowerBound
        while x <= columns.upperBound {
            if !isInside, markers[x] == Marker.none {
                var end = skip(x)
                if end > x {
                    end = min(end, columns.upperBound + 1)
                    while x < end, markers[x] == Marker.none { x += 1 }
                    if x > columns.upperBound { break }
                }
            }
            let marker = markers[x]
            markers[x] = Marker.none
            let number = x < columns.upperBound ? pixel(x) : -1
            if number >= 0, !isInside {
                isInside = true
                if state == .inside {
                    markers[x] = starts[depth] < 0 ? Marker.firstStart : Marker.start
                    if starts[depth] < 0 { starts[depth] = x }
                } else {
                    states[waiting] = state
                    waiting += 1
                    depth += 1
                    (markers[x], starts[depth], parts[depth], state) = (Marker.firstStart, x, Part(), .complete)
                }
            }
            switch marker {
            case Marker.firstStart:
                states[waiting] = state
                waiting += 1
                if isInside {
                    append(stored[x], to: depth)
                } else {
                    states[waiting] = .complete
                    waiting += 1
                    depth += 1
                    (parts[depth], starts[depth]) = (stored[x], -1)
                }
                state = .inside
            case Marker.start:
                if isInside, state == .complete {
                    waiting -= 1
                    let start = starts[depth]
                    append(parts[depth], to: depth - 1)
                    depth -= 1
                    if starts[depth] < 0 { starts[depth] = start } else { markers[start] = Marker.start }
                }
                state = .inside
            case Marker.end:
                state = .incomplete
            case Marker.lastEnd:
                waiting -= 1
                state = states[waiting]
                if !isInside, state == .complete {
                    if starts[depth] < 0 {
                        found(parts[depth])
                    } else {
                        markers[ends[depth]] = Marker.lastEnd
                        stored[starts[depth]] = parts[depth]
                    }
                    depth -= 1
                    waiting -= 1
                    state = states[waiting]
                }
            default: break
            }
            if number >= 0 {
                next[Int(number)] = -1
                append(Part(count: 1, first: number, last: number, touchesEdge: touchesEdge(x)), to: depth)
            } else if isInside {
                isInside = false
                if state == .complete {
                    waiting -= 1
                    state = states[waiting]
                    markers[x] = Marker.lastEnd
                    stored[starts[depth]] = parts[depth]
                    depth -= 1
                } else {
                    markers[x] = Marker.end
                    ends[depth] = x
                }
            }
            x += 1
        }
    }

    private func append(_ part: Part, to depth: Int) {
        parts[depth].count += part.count
        parts[depth].touchesEdge = parts[depth].touchesEdge || part.touchesEdge
        if parts[depth].first < 0 {
            (parts[depth].first, parts[depth].last) = (part.first, part.last)
        } else if part.last >= 0 {
            next[Int(parts[depth].last)] = part.first
            parts[depth].last = part.last
        }
    }
}
