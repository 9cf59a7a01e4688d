import Dispatch
import Testing

@testable import Transport

@Suite(.timeLimit(.minutes(1))) struct MembershipFeedTests {
    private func member(_ number: UInt64) -> Member {
        Member(
            node: NodeID(rawValue: number), name: "n\(number)", address: .hostPort(host: "127.0.0.1", port: 1),
            found: .beacon,
            since: .zero)
    }

    @Test func `a listener hears who is there and then what happens`() async {
        let feed = MembershipFeed()
        let (first, second) = (member(1), member(2))
        feed.update { $0.linked(first) }
        var events = feed.events().makeAsyncIterator()
        feed.update { $0.linked(second) }
        #expect(await events.next() == .joined(first))
        #expect(await events.next() == .joined(second))
        feed.finish()
        #expect(await events.next() == nil)
    }

    @Test func `listeners may be cancelled while something happens`() async {
        let feed = MembershipFeed()
        let member = member(1)
        // Not a task: what the tasks wait for must not need one of their threads.
        let isOver = Latch()
        DispatchQueue.global().async {
            while !isOver.isOpen {
                feed.update { $0.linked(member) }
                feed.update { $0.unlinked(member.node, saidGoodbye: true) }
            }
        }
        for _ in 0..<3000 {
            let listener = Task { for await _ in feed.events() {} }
            await Task.yield()
            listener.cancel()
            await listener.value
        }
        isOver.open()
    }
}
