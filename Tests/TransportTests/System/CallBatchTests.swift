import Distributed
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import Transport

/// Calls that come in together and whose methods do not suspend share a task. No method is to see that.
@Suite(.timeLimit(.minutes(5))) struct CallBatchTests {
    /// Writes all frames at once, so that they come in together.
    private func together(_ frames: [Frame]) -> ByteBuffer {
        var bytes = ByteBuffer()
        for frame in frames { frame.write(into: &bytes) }
        return bytes
    }

    private func call(_ number: Int, _ method: String, trace: UInt64 = 0) throws -> Frame {
        let target = CallTarget(actor: "diary", method: method)
        // On a busy machine the other tests take their time, and no call is to end at its deadline.
        let body = try CallBody.make(target, remaining: .seconds(300), trace: trace, arguments: [number])
        return Frame(.call, call: UInt64(number), body: body)
    }

    /// Runs `body` with a diary, a peer of it that is linked, and a function that returns so many of the numbers of calls that were
    /// answered, in the order of the answers.
    private func run(
        _ body: (
            Diary.Pages, NIOAsyncChannelOutboundWriter<ByteBuffer>, _ answers: (Int) async throws -> [UInt64]
        ) async throws -> Void
    ) async throws {
        let hello = RawPeer.hello()
        try await TestCluster.run([TestCluster.settings("server")]) { systems in
            let pages = Diary.Pages()
            let diary = ClusterSystem.withActorName("diary") { Diary(pages, actorSystem: systems[0]) }
            try await RawPeer.run(to: systems[0], hello: hello) { peer, inbound, outbound in
                _ = try await peer.next([.hello], &inbound)
                while systems[0].link(to: hello.node) == nil { await Task.yield() }
                let link = try #require(systems[0].link(to: hello.node))
                pages.cancelsBy { link.inbound.cancel(UInt64($0)) }
                var iterator = inbound
                try await body(pages, outbound) { count in
                    var answered: [UInt64] = []
                    while answered.count < count, let frame = try await peer.next([.reply, .failure], &iterator) {
                        answered.append(frame.call)
                    }
                    return answered
                }
                inbound = iterator
                while link.inbound.count > 0, !Task.isCancelled { await Task.yield() }
            }
            withExtendedLifetime(diary) {}
        }
    }

    @Test func `a cancel reaches the running call alone, and the others keep their order`() async throws {
        try await run { pages, outbound, answers in
            pages.cancels([2], during: 2)
            var frames = [try call(1, "note"), try call(2, "cancel")]
            for number in 3...9 { frames.append(try call(number, "note")) }
            // What comes in behind the batch does not overtake the rest of it.
            try await outbound.write(together(frames))
            try await outbound.write(together([try call(10, "note"), try call(11, "note")]))
            #expect(try await answers(11) == Array(1...11))
            #expect(pages.numbers == Array(1...11))
            #expect(pages.cancelled == [2])
        }
    }

    @Test func `a call that is cancelled before its turn finds itself cancelled, and nobody else does`() async throws {
        try await run { pages, outbound, answers in
            var frames = [try call(1, "cancel")]
            for number in 2...6 { frames.append(try call(number, "note")) }
            pages.cancels([3, 4], during: 1)
            try await outbound.write(together(frames))
            #expect(try await answers(6) == Array(1...6))
            #expect(pages.numbers == Array(1...6))
            #expect(pages.cancelled == [3, 4])
        }
    }

    @Test func `each call has its own trace, and its own failure`() async throws {
        try await run { pages, outbound, answers in
            var frames: [Frame] = []
            for number in 1...200 {
                frames.append(try call(number, number % 5 == 0 ? "fail" : "note", trace: UInt64(1000 + number)))
            }
            try await outbound.write(together(frames))
            #expect(try await answers(200) == Array(1...200))
            #expect(pages.traces == (1...200).map { UInt64(1000 + $0) })
        }
    }

    @Test func `calls of all kinds of methods start in the order in which they came in`() async throws {
        try await run { pages, outbound, answers in
            var frames: [Frame] = []
            for number in 1...300 { frames.append(try call(number, ["note", "note", "slowly", "note"][number % 4])) }
            try await outbound.write(together(frames))
            #expect(try await answers(300).sorted() == Array(1...300))
            #expect(pages.numbers == Array(1...300))
        }
    }
}

/// Notes who called it, in the order in which the calls begin.
private distributed actor Diary: ClusterActor {
    typealias ActorSystem = ClusterSystem

    static let methods = MethodTable([
        Method("note") { (diary: isolated Diary, number: Int) in diary.note(number) },
        Method("fail") { (diary: isolated Diary, number: Int) in
            diary.note(number)
            throw Complaint(text: "no ink")
        },
        Method("cancel") { (diary: isolated Diary, number: Int) in diary.cancel(number) },
        Method("slowly") { (diary: isolated Diary, number: Int) in await diary.slowly(number) },
    ])

    final class Pages: Sendable {
        private struct Entry {
            var number: Int
            var trace: UInt64
            var isCancelled = false
        }

        private let entries = NIOLockedValueBox<[Entry]>([])
        private let plan = NIOLockedValueBox<[Int: [Int]]>([:])
        private let cancelling = NIOLockedValueBox<(@Sendable (Int) -> Void)?>(nil)

        var numbers: [Int] { entries.withLockedValue { $0.map(\.number) } }
        var traces: [UInt64] { entries.withLockedValue { $0.map(\.trace) } }
        var cancelled: [Int] { entries.withLockedValue { $0.filter(\.isCancelled).map(\.number) } }

        /// Sets what cancels a call, as a cancel of the peer does.
        func cancelsBy(_ cancel: @escaping @Sendable (Int) -> Void) { cancelling.withLockedValue { $0 = cancel } }

        /// Sets which calls are cancelled while one runs. No thread has to be held up for that: there may be only one.
        func cancels(_ calls: [Int], during call: Int) { plan.withLockedValue { $0[call] = calls } }

        func begin(_ number: Int) {
            entries.withLockedValue {
                $0.append(Entry(number: number, trace: CallTrace.current, isCancelled: Task.isCancelled))
            }
        }

        func cancel(during number: Int) {
            begin(number)
            let cancel = cancelling.withLockedValue { $0 }
            for call in plan.withLockedValue({ $0[number] ?? [] }) { cancel?(call) }
            guard Task.isCancelled else { return }
            entries.withLockedValue { entries in
                for index in entries.indices where entries[index].number == number { entries[index].isCancelled = true }
            }
        }
    }

    private let pages: Pages

    init(_ pages: Pages, actorSystem: ClusterSystem) {
        self.actorSystem = actorSystem
        self.pages = pages
    }

    func note(_ number: Int) { pages.begin(number) }

    func cancel(_ number: Int) { pages.cancel(during: number) }

    func slowly(_ number: Int) async {
        pages.begin(number)
        await Task.yield()
    }
}
