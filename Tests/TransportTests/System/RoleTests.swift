import Distributed
import FoundationEssentials
import Testing

@testable import Transport

/// An actor with a method for each role, which say who calls.
distributed actor Desk: ClusterActor {
    typealias ActorSystem = ClusterSystem

    static let methods = MethodTable([
        Method("look", for: .user) { (desk: isolated Desk) in desk.look() },
        Method("order", for: .operator) { (desk: isolated Desk) in desk.order() },
        // Where nobody says who may call it, persons may not.
        Method("work") { (desk: isolated Desk) in desk.work() },
    ])

    private var caller: String { CallOrigin.person.map { "\($0)" } ?? "a node" }

    distributed func look() -> String { caller }
    distributed func order() -> String { caller }
    distributed func work() -> String { caller }
}

/// Links of persons, with whole systems.
@Suite(.timeLimit(.minutes(5))) struct RoleTests {
    private let key: ClusterKey

    init() throws { key = try ClusterKey.make(now: .now) }

    private func settings(_ name: String, _ security: TransportSecurity) -> ClusterSettings {
        var settings = TestCluster.settings(name)
        settings.security = security
        return settings
    }

    private func command(_ name: String, _ role: CallerRole, issued: Date = .now) throws -> ClusterSettings {
        let credential = try Credential.issue(
            to: #require(Person(name: name, role: role)), by: key, validFor: 86_400, now: issued)
        var settings = settings(name, .credential(credential))
        settings.role = .client
        settings.listen = nil
        return settings
    }

    private func outcome(_ call: () async throws -> String) async -> String {
        do {
            return try await call()
        } catch let error as RemoteError {
            return "\(error.kind)"
        } catch {
            return "\(error)"
        }
    }

    @Test func `each method is for those whose role suffices, and knows who calls`() async throws {
        let node = settings("m31", .clusterKey(key))
        var holder = settings("holder", .clusterKey(key))
        holder.role = .client
        let all = [node, try command("alice", .user), try command("bob", .operator), holder]
        try await TestCluster.run(all) { systems in
            let desk = Desk(actorSystem: systems[0])
            let expected = [
                ["user alice", "notAllowed", "notAllowed"], ["operator bob", "operator bob", "notAllowed"],
                ["a node", "a node", "a node"],
            ]
            for (system, expected) in zip(systems[1...], expected) {
                try await system.join(try #require(systems[0].listeningAddress))
                let remote = try Desk.resolve(id: desk.id, using: system)
                // Twice, because a target that was called before is recognised by its number.
                for _ in 0..<2 {
                    #expect(await outcome { try await remote.look() } == expected[0])
                    #expect(await outcome { try await remote.order() } == expected[1])
                    #expect(await outcome { try await remote.work() } == expected[2])
                }
            }
            #expect(systems[0].members.isEmpty, "no command is a member")
            #expect(try await desk.look() == "a node")
        }
    }

    @Test func `calls that come in together are looked at one by one`() async throws {
        try await TestCluster.run([settings("m31", .clusterKey(key)), try command("alice", .user)]) { systems in
            try await systems[1].join(try #require(systems[0].listeningAddress))
            let desk = Desk(actorSystem: systems[0])
            let remote = try Desk.resolve(id: desk.id, using: systems[1])
            let outcomes = await withTaskGroup(of: String.self) { group in
                for index in 0..<200 {
                    group.addTask { await outcome { try await index % 2 == 0 ? remote.look() : remote.work() } }
                }
                return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(outcomes == ["user alice": 100, "notAllowed": 100])
            withExtendedLifetime(desk) {}
        }
    }

    @Test func `a person is no node, and passes for none`() async throws {
        var member = try command("alice", .operator)
        member.role = .node
        try await TestCluster.run([settings("m31", .clusterKey(key)), member]) { systems in
            let address = try #require(systems[0].listeningAddress)
            let failure = await #expect(throws: HandshakeFailure.self) { try await systems[1].join(address) }
            #expect(failure?.description.contains("a node needs the cluster key itself") == true)
            #expect(systems[0].members.isEmpty && systems[0].peers.isEmpty)
        }
    }

    @Test func `a person's certificate serves nobody who dials it`() async throws {
        var server = try command("alice", .operator)
        server.role = .node
        server.listen = .hostPort(host: "127.0.0.1", port: 0)
        try await TestCluster.run([server, settings("m31", .clusterKey(key))]) { systems in
            let address = try #require(systems[0].listeningAddress)
            await #expect(throws: HandshakeFailure.self) { try await systems[1].join(address) }
            #expect(systems[1].peers.isEmpty)
        }
    }

    @Test func `a revocation ends the person's links, lets no new one in, and lets others alone`() async throws {
        let earlier = Date.now - 3600
        let all = [
            settings("m31", .clusterKey(key)), try command("alice", .user, issued: earlier), try command("bob", .user),
        ]
        try await TestCluster.run(all) { systems in
            let address = try #require(systems[0].listeningAddress)
            for system in systems[1...] { try await system.join(address) }
            #expect(systems[0].peers.count == 2)
            let other = try Revocation("bob", by: ClusterKey.make(now: .now), now: .now)
            #expect(!systems[0].revoke([other]), "signed with another key")
            let revocation = try Revocation("alice", by: key, now: .now)
            #expect(systems[0].revoke([revocation]))
            #expect(!systems[0].revoke([revocation]), "it is known")
            #expect(await eventually { systems[0].peers.map(\.name) == ["bob"] })
            let failure = await #expect(throws: HandshakeFailure.self) { try await systems[1].join(address) }
            #expect(failure?.description.contains("the credential of user alice has been revoked") == true)
            #expect(systems[0].peers.map(\.name) == ["bob"])
        }
        // What is issued after that counts, on the machine that knows of the revocation also at once.
        var revocations = Revocations()
        revocations.add(try Revocation("alice", by: key, now: .now))
        let person = try #require(Person(name: "alice", role: .user))
        let (before, after) = (
            try Credential.issue(to: person, by: key, validFor: 60, now: .now),
            try Credential.issue(
                to: person, by: key, validFor: 60, now: .now, after: revocations.time(of: "alice"))
        )
        #expect(revocations.revoke(before.personal))
        #expect(!revocations.revoke(after.personal))
    }
}
