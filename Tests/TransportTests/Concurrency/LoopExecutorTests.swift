import Distributed
import NIOCore
import NIOPosix
import Testing

@testable import Transport

@Suite(.timeLimit(.minutes(2))) struct LoopExecutorTests {
    @Test func `only a group with a single loop has one`() async throws {
        let two = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        #expect(LoopExecutor(TestCluster.loop) != nil && LoopExecutor(two) == nil)
        try await two.shutdownGracefully()
    }

    @Test func `an actor that says so works on the loop, also after it has waited, and others do not`() async throws {
        try await TestCluster.pair { server, client in
            let (worker, other) = (LoopWorker(actorSystem: server), PoolWorker(actorSystem: server))
            let remote = try LoopWorker.resolve(id: worker.id, using: client)
            #expect(try await remote.isOnLoop())
            #expect(try await remote.staysOnLoop())
            let isOtherOnLoop = try await PoolWorker.resolve(id: other.id, using: client).isOnLoop()
            #expect(!isOtherOnLoop)
            withExtendedLifetime((worker, other)) {}
        }
    }

    @Test func `what goes on for long leaves the loop, and calls come back to it later`() async throws {
        try await TestCluster.pair { server, client in
            let worker = LoopWorker(actorSystem: server)
            let remote = try LoopWorker.resolve(id: worker.id, using: client)
            try await remote.worksUntilElsewhere()
            while try await !remote.isOnLoop() {}
            withExtendedLifetime(worker) {}
        }
    }

    @Test func `where there are several loops, it works on none`() async throws {
        try await TestCluster.pair { server, client in
            let worker = LoopWorker(actorSystem: client)
            let isOnLoop = try await LoopWorker.resolve(id: worker.id, using: server).isOnLoop()
            #expect(!isOnLoop)
            withExtendedLifetime(worker) {}
        }
    }

    @Test func `the loop reads and writes for others while calls keep coming`() async throws {
        try await TestCluster.pair { server, client in
            let (worker, echo) = (LoopWorker(actorSystem: server), Echo(actorSystem: server))
            let other = ClusterSystem(TestCluster.settings("other"))
            try await other.start()
            try await other.join(try #require(server.listeningAddress))
            let isOver = Latch()
            try await withThrowingTaskGroup(of: Void.self) { group in
                let remoteWorker = try LoopWorker.resolve(id: worker.id, using: client)
                for _ in 0..<32 {
                    group.addTask {
                        while !isOver.isOpen { _ = try await remoteWorker.isOnLoop() }
                    }
                }
                let remote = try Echo.resolve(id: echo.id, using: other)
                for number in 0..<200 { #expect(try await remote.echo("\(number)") == "\(number)") }
                isOver.open()
                try await group.waitForAll()
            }
            await other.shutdown()
            withExtendedLifetime((worker, echo)) {}
        }
    }
}

/// Says whether its methods run on the loop of `TestCluster`.
distributed actor LoopWorker: ClusterActor {
    typealias ActorSystem = ClusterSystem

    static let methods = MethodTable([
        Method("isOnLoop") { (worker: isolated LoopWorker) in worker.isOnLoop() },
        Method("staysOnLoop") { (worker: isolated LoopWorker) in await worker.staysOnLoop() },
        Method("worksUntilElsewhere") { (worker: isolated LoopWorker) in await worker.worksUntilElsewhere() },
    ])

    static let worksOnLoop = true

    distributed func isOnLoop() -> Bool { TestCluster.loop.any().inEventLoop }

    distributed func staysOnLoop() async -> Bool {
        let began = isOnLoop()
        await Task.yield()
        return began && isOnLoop()
    }

    /// Waits for nothing.
    distributed func worksUntilElsewhere() async {
        while isOnLoop() { await actorSystem.loopExecutor?.pause() }
    }
}

/// Does the same, and works where all tasks do.
distributed actor PoolWorker: ClusterActor {
    typealias ActorSystem = ClusterSystem

    static let methods = MethodTable([Method("isOnLoop") { (worker: isolated PoolWorker) in worker.isOnLoop() }])

    distributed func isOnLoop() -> Bool { TestCluster.loop.any().inEventLoop }
}
