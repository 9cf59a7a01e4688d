import Testing

@testable import Transport

@Suite struct MethodPaceTests {
    @Test func `a method is brief when its last calls were, on average`() {
        let pace = MethodPace()
        #expect(!pace.isBrief)
        pace.note(3, calls: .microseconds(20))
        #expect(pace.isBrief)
        pace.note(0, calls: .seconds(1))
        #expect(pace.isBrief)
        pace.note(3, calls: .milliseconds(1))
        #expect(!pace.isBrief)
    }
}
