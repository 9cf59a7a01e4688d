import Testing

@testable import SkyCore

@Suite struct TrimPlanTests {
    /// What is seen at a second: whether it is busy, and how often results were asked for.
    private typealias Look = (second: Int, isBusy: Bool, fetches: Int)

    /// At which seconds it is to trim.
    private func trims(_ looks: [Look]) -> [Int] {
        var plan = TrimPlan()
        return looks.filter { look in
            var activity = TrimPlan.Activity(isBusy: look.isBusy)
            activity.fetches = look.fetches
            return plan.isDue(activity, now: .seconds(look.second))
        }.map(\.second)
    }

    @Test func `a node trims once, a minute after it was last seen busy`() {
        let looks = [0, 15, 30, 45, 60, 75, 90, 105, 500].map { Look($0, $0 < 30, 0) }
        #expect(trims(looks) == [90], "the look at 30 sees that it has ended")
    }

    @Test func `a request starts the minute again, and the node trims again`() {
        let asked = [0, 50, 100, 110, 200, 1000, 1059, 1060, 2000].map {
            Look($0, false, $0 < 50 ? 1 : $0 < 1000 ? 2 : 3)
        }
        #expect(trims(asked) == [110, 1060])
    }

    @Test func `jobs that are deleted start the minute again`() {
        var plan = TrimPlan()
        let trims = [0, 60, 120, 200, 259, 260, 400].filter { second in
            plan.isDue(TrimPlan.Activity(jobs: second < 200 ? 275 : 0), now: .seconds(second))
        }
        #expect(trims == [60, 260])
    }

    @Test func `a node that has done nothing trims once after its start`() {
        #expect(trims(stride(from: 5, to: 1000, by: 15).map { Look($0, false, 0) }) == [65])
    }

    @Test func `a trim releases only memory that is unchanged from a program file`() {
        func map(_ head: String, anonymous: Int, swapped: Int = 0) -> String {
            head + "\nSize:   100 kB\nRss:   80 kB\nAnonymous:   \(anonymous) kB\nLazyFree: 0 kB\n"
                + "Swap:  \(swapped) kB\nSwapPss:  0 kB\nVmFlags: rd ex mr mw me\n"
        }
        let maps =
            map("1000-3000 r-xp 00000000 08:01 17   /usr/bin/skynode", anonymous: 0)
            + map("3000-4000 r--p 00002000 08:01 17   /usr/bin/skynode", anonymous: 0)
            + map("3800-4000 r--p 00002800 08:01 17   /usr/bin/skynode", anonymous: 8)
            + map("4000-5000 rw-p 00003000 08:01 17   /usr/bin/skynode", anonymous: 0)
            + map("5000-6000 r-xp 00000000 08:01 18   /usr/lib/a library.so", anonymous: 4)
            + map("6000-9000 r-xp 00000000 08:01 19   /usr/lib/b.so", anonymous: 0)
            + map("9000-a000 r-xp 00000000 00:00 0   [vdso]", anonymous: 0)
            + map("b000-a000 r-xp 00000000 08:01 19   /usr/lib/c.so", anonymous: 0)
            + map("zz-a000 r-xp", anonymous: 0)
            + map("c000-d000 r--p 00000000 08:01 19   /usr/lib/b.so", anonymous: 0, swapped: 8)
            + map("d000-e000 r--p 00000000 08:01 20   /srv/a.table", anonymous: 0)
            + "e000-f000 r--p 00000000 08:01 19   /usr/lib/b.so\nAnonymous: 0 kB\n"
        #expect(SpareMemory.unchanged(in: maps) == [0x1000..<0x3000, 0x3000..<0x4000, 0x6000..<0x9000])
        #expect(SpareMemory.unchanged(in: "Anonymous: 0 kB\n").isEmpty && SpareMemory.unchanged(in: "").isEmpty)
        SpareMemory.giveBack()
        #expect(trims([Look(0, false, 0)]).isEmpty, "and the program goes on")
    }
}
