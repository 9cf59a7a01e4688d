import Dispatch
import Foundation
import Testing

@testable import Transport

@Suite(.timeLimit(.minutes(5))) struct MembershipFeedTests {
    private func member(_ number: UInt64) -> Member {
        Member(
            node: NodeID(rawValue: number), name: "n\(number)", address: .hostPort(host: "127.0.0.1", port: 1),
            found: .beacon,
            since: .zero)
    }

    @Test func `a listener gets the present members first, and then the events`() async {
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

    @Test func `a goodbye without a link ends that its name is missed, and says nothing of others`() async {
        let feed = MembershipFeed()
        var again = member(9)
        again.name = "n1"
        let (first, second) = (member(1), member(2))
        for member in [first, second] { feed.update { $0.linked(member) } }
        var events = feed.events().makeAsyncIterator()
        // Nobody misses one that is here, or that has said goodbye.
        feed.heardGoodbye(of: again)
        feed.update { $0.unlinked(second.node, saidGoodbye: true) }
        feed.heardGoodbye(of: second)
        feed.update { $0.unlinked(first.node, saidGoodbye: false) }
        feed.heardGoodbye(of: member(3))
        feed.heardGoodbye(of: again)
        // The same datagram comes by several paths.
        feed.heardGoodbye(of: again)
        feed.finish()
        var seen: [MembershipEvent] = []
        while let event = await events.next() { seen.append(event) }
        #expect(
            seen.dropFirst(2) == [.left(second.node), .lost(first.node), .joined(again), .left(again.node)], "\(seen)")
        #expect(feed.members.isEmpty)
    }

    @Test func `a listener may be cancelled while something happens`() async {
        for _ in 0..<20 {
            let feed = MembershipFeed()
            let (first, second) = (member(1), member(2))
            feed.update { $0.linked(first) }
            let (heard, changing, cancelling) = (
                DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
            )
            let listener = Task { for await _ in feed.events() { heard.signal() } }
            // Threads of their own: where they block each other, nothing else is held up.
            Thread.detachNewThread {
                heard.wait()
                feed.update { membership in
                    changing.signal()
                    cancelling.wait()
                    // Meanwhile the cancellation gets to where it would want the feed's lock, if it did.
                    for _ in 0..<2000 { sched_yield() }
                    return membership.linked(second)
                }
            }
            Thread.detachNewThread {
                changing.wait()
                cancelling.signal()
                listener.cancel()
            }
            await listener.value
        }
    }
}
