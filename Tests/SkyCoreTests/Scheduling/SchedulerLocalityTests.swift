import SkyCore
import Testing
import Transport

/// Work whose input lies on one machine. A sector takes 0.03 s for its background and 0.09 s for its sources.
@Suite struct SchedulerLocalityTests {
    private let here = ImageBatchStory.Machine(node: SchedulerStory.local, slots: 1, hasFiles: true)
    private let there = ImageBatchStory.Machine(node: SchedulerStory.east, slots: 1)

    private func machines(_ count: Int, slots: Int) -> [ImageBatchStory.Machine] {
        (1...UInt64(count)).map {
            ImageBatchStory.Machine(node: NodeID(rawValue: $0), slots: slots, hasFiles: $0 == 1)
        }
    }

    /// What cores and wire allow at most: the machine without the file does what its wire brings it.
    private func least(_ images: Int, transfer: Double) -> Double {
        let (work, wire) = (16 * 0.12 * Double(images), 16 * transfer * Double(images))
        return wire < work ? work / 2 : work * wire / (work + wire)
    }

    /// A 16-bit image of 1024 x 1024 pixels a sector over 1 Gb/s and 100 Mb/s, and one of floats.
    @Test(arguments: [0.01, 0.03, 0.09, 0.27])
    func `many images are shared near the limit of cores and wire, and most stay on one machine`(
        _ transfer: Double
    ) {
        let images = 24
        let both = ImageBatchStory(machines: [here, there], images: images, transfer: transfer).run()
        #expect(least(images, transfer: transfer) / both.seconds > 0.87, "\(both.seconds) s")
        #expect(both.wholeImages >= 16, "\(both.wholeImages) of \(images)")
        let elsewhere = both.sectorsByNode[SchedulerStory.east] ?? 0
        #expect(Double(both.transfers) < 1.1 * Double(elsewhere), "\(both.transfers) for \(elsewhere)")
    }

    @Test(arguments: [0.001, 0.01, 0.03])
    func `one image over a fast wire is shared evenly`(_ transfer: Double) {
        let both = ImageBatchStory(machines: [here, there], transfer: transfer).run()
        #expect(least(1, transfer: transfer) / both.seconds > 0.9, "\(both.seconds) s")
        #expect(both.transfers == 8, "the node that measured a background scans the sector")
    }

    @Test(arguments: [0.09, 0.27, 1, 5, 60])
    func `one image over a slow wire takes no longer than on the machine that has it`(_ transfer: Double) {
        let alone = ImageBatchStory(machines: [here]).run()
        let both = ImageBatchStory(machines: [here, there], transfer: transfer).run()
        #expect(both.seconds < alone.seconds * 1.15, "\(both.seconds) s, alone \(alone.seconds) s")
    }

    @Test(arguments: [2.0, 5, 20])
    func `a slow machine does not keep the others waiting`(_ slowness: Double) {
        var slow = there
        slow.slowness = slowness
        slow.hasFiles = true
        let alone = ImageBatchStory(machines: [here], images: 3).run()
        let both = ImageBatchStory(machines: [here, slow], images: 3).run()
        #expect(both.seconds < alone.seconds * 1.05, "\(both.seconds) s, alone \(alone.seconds) s")
        let best = alone.seconds / (1 + 1 / slowness)
        #expect(both.seconds < best * 1.25, "\(both.seconds) s, at best \(best) s")
    }

    @Test func `fifty machines share an image, and a hundred images stay whole on ten`() {
        let one = ImageBatchStory(machines: machines(50, slots: 1), sectors: 400, transfer: 0.01).run()
        #expect(one.seconds < 400 * 0.12 / 50 * 1.35, "\(one.seconds) s")
        #expect(one.sectorsByNode.count == 50)
        let many = ImageBatchStory(machines: machines(10, slots: 2), images: 100, width: 30, transfer: 0.01).run()
        #expect(many.seconds < 100 * 16 * 0.12 / 20 * 1.1, "\(many.seconds) s")
        #expect(many.wholeImages > 50, "\(many.wholeImages)")
        let elsewhere = 1600 - (many.sectorsByNode[NodeID(rawValue: 1)] ?? 0)
        #expect(Double(many.transfers) < 1.15 * Double(elsewhere), "\(many.transfers) for \(elsewhere)")
    }

    @Test func `the images of a lost machine go to the others`() {
        var story = SchedulerStory([SchedulerStory.local: 1, SchedulerStory.east: 1])
        var options = JobOptions()
        options.sharesInput = true
        let job = SchedulerStory.job
        story.handle(.submitted(job, tasks: 1, options))
        story.handle(.succeeded(attempt(0), on: SchedulerStory.local))
        story.handle(.tasksAdded(job, count: 2))
        story.handle(.succeeded(attempt(1), on: SchedulerStory.local, took: .milliseconds(10)))
        story.handle(.succeeded(attempt(2), on: SchedulerStory.east, took: .milliseconds(10)))
        story.handle(.nodeLost(SchedulerStory.east))
        let affinity = [TaskID(3): TaskID(2), TaskID(4): TaskID(1)]
        let runs = story.handle(.tasksAdded(job, count: 2, affinity: affinity)).runs
        #expect(runs.map(\.attempt.task) == [TaskID(4)], "its own first")
        #expect(story.handle(.succeeded(attempt(4), on: SchedulerStory.local)).runs.map(\.attempt.task) == [TaskID(3)])
    }
}
