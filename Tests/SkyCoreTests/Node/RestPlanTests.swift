import Testing

@testable import SkyCore

@Suite struct RestPlanTests {
    /// What is seen at a second: whether it is busy, and how often results were asked for.
    private typealias Look = (second: Int, isBusy: Bool, fetches: Int)

    /// At which seconds it is to rest.
    private func rests(_ looks: [Look]) -> [Int] {
        var plan = RestPlan()
        return looks.filter { look in
            var activity = RestPlan.Activity(isBusy: look.isBusy)
            activity.fetches = look.fetches
            return plan.isDue(activity, now: .seconds(look.second))
        }.map(\.second)
    }

    @Test func `a node rests once, a minute after it was last seen busy`() {
        let looks = [0, 15, 30, 45, 60, 75, 90, 105, 500].map { Look($0, $0 < 30, 0) }
        #expect(rests(looks) == [90], "the look at 30 sees that it has ended")
    }

    @Test func `whatever is asked for begins the minute anew, and it rests again`() {
        let asked = [0, 50, 100, 110, 200, 1000, 1059, 1060, 2000].map {
            Look($0, false, $0 < 50 ? 1 : $0 < 1000 ? 2 : 3)
        }
        #expect(rests(asked) == [110, 1060])
    }

    @Test func `one that has done nothing has nothing to give back`() {
        #expect(rests(stride(from: 0, to: 1000, by: 15).map { Look($0, false, 0) }).isEmpty)
    }
}
