import NIOCore
import Testing
import Transport

@testable import SkyCore

@Suite struct IdentityKeyTests {
    private let node = NodeID(rawValue: 7)

    @Test func `a secret has one key, and each purpose another`() {
        let (key, again) = (IdentityKey.coordinator(secret: [1]), IdentityKey.coordinator(secret: [1]))
        #expect(key.coordinator == again.coordinator)
        #expect(again.proof(from: node, "2").proves(key.coordinator, from: node, "2"))
        #expect(IdentityKey.coordinator(secret: [2]).coordinator != key.coordinator)
        #expect(IdentityKey.replica(secret: [1]).replica.rawValue != key.coordinator.rawValue)
        #expect(IdentityKey.of(key.coordinator, secret: [1]) != nil)
        #expect(IdentityKey.of(CoordinatorID(rawValue: 1), secret: [1]) == nil)
    }

    @Test func `a proof counts for its identity, its node and its words`() {
        let key = IdentityKey.replica(secret: [1, 2])
        let proof = key.proof(from: node, "x")
        #expect(proof.proves(key.replica, from: node, "x"))
        #expect(!proof.proves(key.replica, from: node))
        #expect(!proof.proves(key.replica, from: NodeID(rawValue: 8), "x"))
        #expect(!proof.proves(ReplicaID(rawValue: key.replica.rawValue ^ 1), from: node, "x"))
        #expect(!proof.proves(CoordinatorID(rawValue: key.replica.rawValue), from: node, "x"))
        var changed = proof
        changed.publicKey = IdentityKey.replica(secret: [3]).proof(from: node).publicKey
        #expect(!changed.proves(key.replica, from: node, "x"), "the id follows from the key")
        changed = proof
        changed.signature += Array(repeating: 0, count: 1 << 20)
        #expect(!changed.proves(key.replica, from: node, "x"))
    }

    @Test func `a new journal's coordinator can prove who it is, also after another start`() async throws {
        let journal = try Journal.inMemory()
        let proof = try #require(journal.proof(from: node))
        let incarnation = journal.incarnation
        #expect(proof.proves(incarnation.coordinator, from: node, "\(incarnation.generation)"))
        #expect(!proof.proves(incarnation.coordinator, from: node, "\(incarnation.generation + 1)"))
    }
}
