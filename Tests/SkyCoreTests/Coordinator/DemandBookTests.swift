import Testing
import Transport

@testable import SkyCore

@Suite struct DemandBookTests {
    private let node = NodeID(rawValue: 1)

    @Test func `only one call at a time sends the newest demand`() {
        var book = DemandBook()
        let starts = book.demand(4, on: node)
        #expect(starts)
        #expect(book.next(for: node) == 4)
        // While the call is under way the demand changes twice, and no second call starts.
        let again = [book.demand(8, on: node), book.demand(2, on: node)]
        #expect(again == [false, false])
        #expect(book.next(for: node) == 2)
        #expect(book.next(for: node) == nil)
        let later = book.demand(3, on: node)
        #expect(later)
    }

    @Test func `a demand that may not have arrived is sent again`() {
        var book = DemandBook()
        _ = book.demand(4, on: node)
        _ = book.next(for: node)
        book.failed(on: node)
        #expect(book.next(for: node) == 4)
    }

    @Test func `after a lost lease the same demand is sent again`() {
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
