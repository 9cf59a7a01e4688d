import Distributed
import Foundation
import Testing
import Transport

/// The documentation's example.
@Suite(.timeLimit(.minutes(5))) struct FirstActorTests {
    @Test func `the example of the article works`() async throws {
        let key = try ClusterKey.make(now: .now)
        let (system, weather) = try await startStation(key)
        let address = try #require(system.listeningAddress)
        #expect(try await askStation(at: address, key) == "La Silla")
        withExtendedLifetime(weather) {}
        await system.shutdown()
    }

    @Test func `a declared error of the example arrives as itself`() async throws {
        let key = try ClusterKey.make(now: .now)
        let (system, weather) = try await startStation(key)
        var settings = ClusterSettings(name: "visitor")
        settings.security = .clusterKey(key)
        let visitor = ClusterSystem(settings)
        try await visitor.start()
        let station = try await visitor.join(try #require(system.listeningAddress))
        let remote = try Weather.resolve(id: ActorAddress(node: station.node, name: "weather"), using: visitor)
        await #expect(throws: NoReports.self) { try await remote.warmest() }
        withExtendedLifetime(weather) {}
        await visitor.shutdown()
        await system.shutdown()
    }

    @Test func `the article shows the code that was compiled`() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
        let source = try String(contentsOf: tests.appending(path: "FirstActor.swift"), encoding: .utf8)
        let root = tests.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let path = "Sources/Transport/Transport.docc/YourFirstDistributedActor.md"
        let article = try String(contentsOf: root.appending(path: path), encoding: .utf8)
        let blocks = article.components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
        #expect(blocks.count == 3)
        for block in blocks { #expect(source.contains(block), "\(block)") }
    }
}
