import Glibc

/// The branches into which rising thresholds cut an object, and those of them that are objects of their own (SExtractor's manual,
/// "Deblending"; Bertin and Arnouts 1996, A&AS 117, 393, section 4).
///
/// SEP looks for the connected pixels of all branches at all thresholds. Here the pixels are taken from the brightest to the
/// faintest, and each joins the branches that it touches. So it is known at which thresholds branches meet, and only these are
/// looked at.
struct BlendTree {
    /// A threshold at which branches have met that the next one separates.
    private struct Meeting {
        let level: Int
        /// The columns and the lines of the branches.
        let columns: ClosedRange<Int>
        let lines: ClosedRange<Int>
        var branches: [Branch] = []
        /// Whether nothing above has been split.
        var isWhole = true
        var turn = 0
    }

    /// A branch where it meets others.
    private struct Branch {
        /// Any of its pixels.
        let pixel: Int32
        /// The last meeting below the one that this branch belongs to, counted from the top; -1 for none.
        let meeting: Int
        var object = FoundObject(pixels: [], threshold: 0, flags: 0)
        /// The place where the scan has passed the branch as a whole.
        var end = (line: 0, column: 0)
    }

    /// Pixels that are connected at a threshold.
    private struct Group {
        var parent: Int32
        var count: Int32 = 1
        /// The branches that have met in it since the threshold before, as a chain in `links`, and their number.
        var firstLink: Int32 = -1
        var lastLink: Int32 = -1
        var links: Int32 = 0
        var (left, right, top, bottom): (Int32, Int32, Int32, Int32)
    }

    /// A branch in the chain of a group.
    private struct Link {
        let pixel: Int32
        let meeting: Int
        var next: Int32 = -1
    }

    /// A branch has at least three pixels.
    private static let largestArea = 3

    private let root: FoundObject
    private let list: PixelList
    private let width: Int
    private let levels: Int
    private let contrast: Double
    private let area: Int
    private var thresholds: [Float] = []

    /// - Parameters:
    ///   - root: The object, with its sums.
    ///   - width: Of the image.
    ///   - levels: The number of thresholds.
    ///   - contrast: The least share of the object's light that a branch must have above its threshold.
    ///   - minimumArea: The least number of pixels of an object.
    init(_ root: FoundObject, _ list: PixelList, width: Int, levels: Int, contrast: Double, minimumArea: Int) {
        (self.root, self.list, self.width, self.levels, self.contrast) = (root, list, width, levels, contrast)
        area = min(minimumArea, Self.largestArea)
    }

    /// The branches that are objects, in SEP's order; empty if the object stays whole, `nil` if only SEP can tell.
    mutating func objects(_ scan: LutzScan, height: Int) -> [FoundObject]? {
        let (low, peak) = (Double(root.threshold), Double(root.filteredPeak))
        guard low > 0, peak > low, peak.isFinite else { return nil }
        thresholds = (0..<levels).map { Float(low * pow(peak / low, Double($0) / Double(levels))) }
        thresholds[0] = root.threshold
        for level in 1..<levels where thresholds[level] < thresholds[level - 1] { return nil }
        let box = Box(root, list, width: width)
        var meetings = meetings(box)
        guard !meetings.isEmpty else { return [] }
        let least = Double(root.filteredFlux) * contrast
        for index in meetings.indices {
            measure(&meetings[index], box, scan, height: height)
        }
        setTurns(&meetings)
        var chosen: [FoundObject] = []
        let order = meetings.indices.sorted {
            (-meetings[$0].level, meetings[$0].turn) < (-meetings[$1].level, meetings[$1].turn)
        }
        for index in order {
            let branches = meetings[index].branches
            let isWhole = branches.map { $0.meeting < 0 || meetings[$0.meeting].isWhole }
            let isBright = branches.map { branch in
                let object = branch.object
                return Double(object.filteredFlux - object.threshold * Float(object.pixels.count)) > least
            }
            meetings[index].isWhole = isWhole.allSatisfy { $0 }
            guard isBright.count(where: { $0 }) > 1 else { continue }
            for place in branches.indices where isWhole[place] && isBright[place] {
                var object = branches[place].object
                object.flags |= FoundObject.split
                chosen.append(object)
            }
            meetings[index].isWhole = false
        }
        return meetings.allSatisfy(\.isWhole) ? [] : chosen
    }

    /// The places of the object's pixels in its box, with one more place on each side.
    private struct Box {
        let (left, top): (Int, Int)
        let stride: Int
        /// The place of each pixel among those of the object; negative for none.
        var indices: [Int32]

        init(_ root: FoundObject, _ list: PixelList, width: Int) {
            (left, top, stride) = (root.minX - 1, root.minY - 1, root.maxX - root.minX + 3)
            indices = [Int32](repeating: -1, count: stride * (root.maxY - root.minY + 3))
            for (index, pixel) in root.pixels.enumerated() {
                let (y, x) = Int(list.places[Int(pixel)]).quotientAndRemainder(dividingBy: width)
                indices[(y - top) * stride + x - left] = Int32(index)
            }
        }
    }

    /// The number of the highest threshold that a pixel is above.
    private func level(of value: Float) -> Int {
        var (low, high) = (0, levels)
        while high - low > 1 {
            let middle = (low + high) / 2
            if value > thresholds[middle] { low = middle } else { high = middle }
        }
        return low
    }

    /// Where branches meet, from the highest threshold down. All others lie above the last one.
    private func meetings(_ box: Box) -> [Meeting] {
        let count = root.pixels.count
        let pixelLevels = root.pixels.map { level(of: list.filtered[Int($0)]) }
        var starts = [Int](repeating: 0, count: levels + 1)
        for level in pixelLevels { starts[levels - 1 - level + 1] += 1 }
        for level in 0..<levels { starts[level + 1] += starts[level] }
        var order = [Int32](repeating: 0, count: count)
        var ends = starts
        for (index, level) in pixelLevels.enumerated() {
            order[ends[levels - 1 - level]] = Int32(index)
            ends[levels - 1 - level] += 1
        }
        var found: [Meeting] = []
        var links: [Link] = []
        var groups = [Group](repeating: Group(parent: -1, left: 0, right: 0, top: 0, bottom: 0), count: count)
        groups.withUnsafeMutableBufferPointer { groups in
            func top(_ index: Int32) -> Int32 {
                var index = index
                while groups[Int(index)].parent != index {
                    let parent = groups[Int(index)].parent
                    groups[Int(index)].parent = groups[Int(parent)].parent
                    index = parent
                }
                return index
            }
            /// Makes one group of two.
            func join(_ one: Int32, _ other: Int32) -> Int32 {
                let small = groups[Int(other)]
                groups[Int(other)].parent = one
                groups[Int(one)].count += small.count
                groups[Int(one)].left = min(groups[Int(one)].left, small.left)
                groups[Int(one)].right = max(groups[Int(one)].right, small.right)
                groups[Int(one)].top = min(groups[Int(one)].top, small.top)
                groups[Int(one)].bottom = max(groups[Int(one)].bottom, small.bottom)
                if small.links > 0 {
                    if groups[Int(one)].links > 0 {
                        links[Int(groups[Int(one)].lastLink)].next = small.firstLink
                    } else {
                        groups[Int(one)].firstLink = small.firstLink
                    }
                    groups[Int(one)].lastLink = small.lastLink
                    groups[Int(one)].links += small.links
                }
                return one
            }
            for level in (0..<levels).reversed() {
                let members = order[starts[levels - 1 - level]..<starts[levels - level]]
                for index in members {
                    let (y, x) = Int32(list.places[Int(root.pixels[Int(index)])]).quotientAndRemainder(
                        dividingBy: Int32(width))
                    groups[Int(index)] = Group(parent: index, left: x, right: x, top: y, bottom: y)
                    var own = index
                    let place = (Int(y) - box.top) * box.stride + Int(x) - box.left
                    for line in Swift.stride(from: place - box.stride, through: place + box.stride, by: box.stride) {
                        for neighbour in line - 1...line + 1 {
                            let other = box.indices[neighbour]
                            guard other >= 0, groups[Int(other)].parent >= 0 else { continue }
                            let otherTop = top(other)
                            guard otherTop != own else { continue }
                            own =
                                groups[Int(otherTop)].count > groups[Int(own)].count
                                ? join(otherTop, own) : join(own, otherTop)
                        }
                    }
                }
                for index in members {
                    let own = Int(top(index))
                    if groups[own].links > 1 {
                        let group = groups[own]
                        var meeting = Meeting(
                            level: level, columns: Int(group.left)...Int(group.right),
                            lines: Int(group.top)...Int(group.bottom))
                        var link = group.firstLink
                        while link >= 0 {
                            meeting.branches.append(
                                Branch(pixel: links[Int(link)].pixel, meeting: links[Int(link)].meeting))
                            link = links[Int(link)].next
                        }
                        found.append(meeting)
                        links.append(Link(pixel: meeting.branches[0].pixel, meeting: found.count - 1))
                    } else if groups[own].links == 0, groups[own].count >= area {
                        links.append(Link(pixel: index, meeting: -1))
                    } else {
                        continue
                    }
                    groups[own].firstLink = Int32(links.count - 1)
                    groups[own].lastLink = Int32(links.count - 1)
                    groups[own].links = 1
                }
            }
        }
        return found
    }

    /// Looks for the pixels of the branches of a meeting, in SEP's order.
    private func measure(_ meeting: inout Meeting, _ box: Box, _ scan: LutzScan, height: Int) {
        let threshold = thresholds[meeting.level + 1]
        var missing = meeting.branches.count
        let columns = meeting.columns.lowerBound..<meeting.columns.upperBound + 1
        for y in meeting.lines.lowerBound...meeting.lines.upperBound + 1 {
            let row = (y - box.top) * box.stride - box.left
            let isLineOfObject = y <= meeting.lines.upperBound
            scan.line(
                columns,
                pixel: { x in
                    guard isLineOfObject else { return -1 }
                    let index = box.indices[row + x]
                    return index >= 0 && list.filtered[Int(root.pixels[Int(index)])] > threshold ? index : -1
                }, touchesEdge: { $0 == 0 || $0 == width - 1 || y == 0 || y == height - 1 }, skip: { $0 }
            ) { part in
                guard part.count >= area, missing > 0 else { return }
                var place: Int?
                scan.forEachPixel(of: part) { index in
                    for branch in meeting.branches.indices where meeting.branches[branch].pixel == index {
                        place = branch
                    }
                }
                guard let place else { return }
                missing -= 1
                var pixels: [Int32] = []
                pixels.reserveCapacity(part.count)
                scan.forEachPixel(of: part) { pixels.append(root.pixels[Int($0)]) }
                var object = FoundObject(
                    pixels: pixels, threshold: threshold, flags: part.touchesEdge ? FoundObject.edge : 0)
                object.sum(list, width: width)
                meeting.branches[place].object = object
                let last = pixels.lazy.map { Int(list.places[Int($0)]) }.max() ?? 0
                meeting.branches[place].end = (last / width, last % width)
            }
        }
    }

    /// Gives the meetings the order in which SEP comes to them: that of the branches, from the lowest threshold up.
    private func setTurns(_ meetings: inout [Meeting]) {
        var turn = 0
        var waiting = [meetings.count - 1]
        while let index = waiting.popLast() {
            meetings[index].turn = turn
            turn += 1
            meetings[index].branches.sort { $0.end < $1.end }
            for branch in meetings[index].branches.reversed() where branch.meeting >= 0 {
                waiting.append(branch.meeting)
            }
        }
    }
}
