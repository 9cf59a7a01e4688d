import Distributed
import Logging
import NIOCore
import Synchronization
import Testing
import Transport

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

/// Two nodes over a real socket: one that has pixels, and one that asks for them.
@Suite(.timeLimit(.minutes(5))) struct PixelStoreTests {
    /// Answers when it is let, and counts.
    private final class Source: Sendable {
        let asked = Atomic<Int>(0)
        let most = Atomic<Int>(0)
        private let underWay = Atomic<Int>(0)
        let gate = Latch()

        func give(_ request: PixelRequest) async -> PixelReply {
            asked.add(1, ordering: .relaxed)
            let now = underWay.add(1, ordering: .relaxed).newValue
            most.max(now, ordering: .relaxed)
            await gate.wait()
            underWay.subtract(1, ordering: .relaxed)
            guard case .tile(let tile) = request.part else { return .badInput("no header here") }
            return .part(ByteBuffer(bytes: [UInt8(tile.column)]))
        }
    }

    private func with(
        limit: Int = 1 << 20, _ source: Source,
        _ body: (PixelStore, PixelHolder, ClusterSystem) async throws -> Void
    ) async throws {
        func system(_ name: String) -> ClusterSystem {
            var settings = ClusterSettings(name: name)
            settings.listen = .hostPort(host: "127.0.0.1", port: 0)
            settings.logger = Logger(label: name) { _ in SwiftLogNoOpLogHandler() }
            return ClusterSystem(settings)
        }
        let (holder, asker) = (system("holder"), system("asker"))
        let actor = ClusterSystem.withActorName(PixelActor.wellKnownName) {
            PixelActor(actorSystem: holder) { await source.give($0) }
        }
        try await holder.start()
        try await asker.start()
        try await asker.join(#require(holder.listeningAddress))
        do {
            let known = PixelHolder(node: holder.node, name: holder.name)
            try await body(PixelStore(limit: limit, system: asker), known, holder)
        } catch {
            await asker.shutdown()
            await holder.shutdown()
            throw error
        }
        await asker.shutdown()
        await holder.shutdown()
        withExtendedLifetime(actor) {}
    }

    private func bytes(_ reply: PixelReply) -> [UInt8]? {
        if case .part(let bytes) = reply { Array(bytes.readableBytesView) } else { nil }
    }

    @Test func `a part that many tasks need crosses the wire once`() async throws {
        let source = Source()
        try await with(source) { store, holder, _ in
            let request = PixelRequest.tile(3, of: "/sky.fits", holder: holder)
            await withTaskGroup(of: [UInt8]?.self) { group in
                for _ in 0..<20 { group.addTask { self.bytes(await store.fetch(request)) } }
                source.gate.open()
                for await found in group { #expect(found == [3]) }
            }
            #expect(bytes(await store.fetch(request)) == [3])
            let elsewhere = PixelRequest.tile(3, of: "/copy/sky.fits", holder: holder)
            #expect(bytes(await store.fetch(elsewhere)) == [3], "what a file holds counts, not its name")
            #expect(source.asked.load(ordering: .relaxed) == 1)
        }
    }

    @Test func `few parts are under way at a time, and all arrive`() async throws {
        let source = Source()
        source.gate.open()
        try await with(source) { store, holder, _ in
            await withTaskGroup(of: (Int, [UInt8]?).self) { group in
                for column in 0..<100 {
                    group.addTask {
                        (column, self.bytes(await store.fetch(.tile(column, of: "/sky.fits", holder: holder))))
                    }
                }
                for await (column, found) in group { #expect(found == [UInt8(column)]) }
            }
            #expect(source.asked.load(ordering: .relaxed) == 100)
            #expect((1...4).contains(source.most.load(ordering: .relaxed)))
        }
    }

    @Test func `a restarted node is found by its name, and a missing one is named`() async throws {
        let source = Source()
        source.gate.open()
        try await with(source) { store, holder, _ in
            let earlier = PixelHolder(node: .random(), name: holder.name)
            #expect(bytes(await store.fetch(.tile(1, of: "/sky.fits", holder: earlier))) == [1])
            let gone = PixelHolder(node: .random(), name: "h9")
            guard case .unavailable(let reason) = await store.fetch(.tile(2, of: "/sky.fits", holder: gone)) else {
                Issue.record("it came from nowhere")
                return
            }
            #expect(reason.contains("/sky.fits") && reason.contains("h9"), "\(reason)")
        }
    }

    @Test func `a failure is not cached, and a node that reads no files says so`() async throws {
        let source = Source()
        source.gate.open()
        try await with(source) { store, holder, system in
            var header = PixelRequest.tile(0, of: "/sky.fits", holder: holder)
            header.part = .header
            for _ in 0..<2 {
                guard case .badInput = await store.fetch(header) else {
                    Issue.record("a header came")
                    return
                }
            }
            #expect(source.asked.load(ordering: .relaxed) == 2)
            guard case .unavailable = await store.serve(.tile(0, of: "/sky.fits")) else {
                Issue.record("it read a file without a worker")
                return
            }
        }
    }
}
