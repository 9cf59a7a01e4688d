import Testing
import Transport

@testable import SkyCore

@Suite struct DemandBookTests {
    private let node = NodeID(rawValue: 1)

    @Test func `one teller at a time tells the newest wish`() {
        var book = DemandBook()
        let starts = book.demand(4, on: node)
        #expect(starts)
        #expect(book.next(for: node) == 4)
        // While the call is under way the wish changes twice; nobody else starts.
        let again = [book.demand(8, on: node), book.demand(2, on: node)]
        #expect(again == [false, false])
        #expect(book.next(for: node) == 2)
        #expect(book.next(for: node) == nil)
        let later = book.demand(3, on: node)
        #expect(later)
    }

    @Test func `a wish that may not have arrived is told again`() {
        var book = DemandBook()
        _ = book.demand(4, on: node)
        _ = book.next(for: node)
        book.failed(on: node)
        #expect(book.next(for: node) == 4)
    }

    @Test func `a lease that was lost makes the same wish worth telling`() {
        var book = DemandBook()
        _ = book.demand(4, on: node)
        _ = book.next(for: node)
        _ = book.next(for: node)
        book.leaseLost(on: node)
        let starts = book.demand(4, on: node)
        #expect(starts)
        #expect(book.next(for: node) == 4)
    }
}
