import Testing

@testable import SkyNode
@testable import Transport

/// What a command that looks for a node makes of refusals, and of nodes with another key.
struct ClusterSearchTests {
    private static let alice = Person(name: "alice", role: .user)!
    private static let key = ClusterSearch.Identity.key(file: "b.key", remark: "")
    private static let credential = ClusterSearch.Identity.credential(alice, remark: "")
    private static let revoked = HandshakeFailure.refusedByPeer(
        Refusal(.identity, "the credential of user alice has been revoked"))
    private static let otherKey = HandshakeFailure.broken(TLSFailure.otherAuthority.description)
    private static let keyless = HandshakeFailure.broken(TLSFailure.notTLS(.skynet).description)
    private static let closed = HandshakeFailure.broken(TLSFailure.closedDuringHandshake.description)
    private static let late = HandshakeFailure.broken(TLSFailure.outOfDateForPeer.description)

    private func address(_ number: Int) -> NodeAddress { .hostPort(host: "10.0.0.\(number)", port: 7420) }

    private func stranger(_ number: Int, key: UInt64 = 5) -> NodeFinder.Stranger {
        NodeFinder.Stranger(fault: .foreign(ClusterMark(name: 1, key: key)), address: "\(address(number))")
    }

    private func search(
        _ identity: ClusterSearch.Identity, _ failures: [any Error] = [], strangers: [NodeFinder.Stranger] = []
    ) -> ClusterSearch {
        var search = ClusterSearch(identity)
        for (index, failure) in failures.enumerated() { search.failed(address(index + 1), failure) }
        for stranger in strangers { search.heard(stranger) }
        return search
    }

    @Test func `a command with slots that hears itself has found nothing`() {
        let itself = HandshakeFailure.refused(Refusal(.itself, "pc1 dialled itself"))
        #expect(search(.nothing, [itself]).conclusion(isRequired: true) == ("no node found", false))
        let reason = search(.nothing, [itself, HandshakeFailure.timedOut]).conclusion().reason
        #expect(reason == "no node found (at 10.0.0.2:7420: the other side did not say hello in time)")
    }

    @Test func `where nothing is heard, a key works alone and a credential does not`() {
        for identity in [.nothing, ClusterSearchTests.key, .certificates] {
            #expect(search(identity).conclusion() == ("no node found", true))
            #expect(search(identity).conclusion(isRequired: true) == ("no node found", false))
        }
        let (reason, mayWorkAlone) = search(ClusterSearchTests.credential).conclusion()
        #expect(
            !mayWorkAlone && reason.hasPrefix("no node found, and with the credential of user alice nothing is done"))
    }

    @Test(
        arguments: [
            (key, otherKey, "the node at 10.0.0.1:7420 uses a different cluster key; name its key"),
            (
                credential, revoked,
                "the node at 10.0.0.1:7420 refuses this command: the credential of user alice has been revoked"
            ),
            (
                credential, otherKey,
                "the node at 10.0.0.1:7420 uses a different cluster key; the credential is of another"
            ),
            (key, late, "check the clocks of both machines; set the clocks"),
            (key, keyless, "so it was started without a key; start it with the cluster's key; scan"),
            (credential, keyless, "so it was started without a key; start it with the cluster's key; scan"),
            (key, closed, "was it started with the cluster's key?; scan"),
            (credential, closed, "was it started with the cluster's key?; scan"),
            (.certificates, otherKey, "the node at 10.0.0.1:7420 refuses this command: "),
            (.nothing, otherKey, "the node at 10.0.0.1:7420 has a cluster key, and this command has none"),
        ] as [(ClusterSearch.Identity, HandshakeFailure, String)])
    func `a node that refuses what the command shows ends it`(
        identity: ClusterSearch.Identity, failure: HandshakeFailure, words: String
    ) {
        let (reason, mayWorkAlone) = search(identity, [failure]).conclusion()
        #expect(!mayWorkAlone && reason.contains(words) && reason.hasSuffix("with --alone"), "\(reason)")
        let more = search(identity, [failure, failure, failure]).conclusion().reason
        #expect(more.contains(", as do 2 other nodes"))
    }

    @Test func `a node that is only silent, stopping or of another version leaves the command its own machine`() {
        struct Refused: Error {}
        let other = HandshakeFailure.refused(Refusal(.version, "it speaks protocol 9"))
        let leaving = HandshakeFailure.refusedByPeer(Refusal(.leaving, "pc2 is shutting down"))
        for failure in [Refused(), other, leaving, HandshakeFailure.timedOut] as [any Error] {
            let (reason, mayWorkAlone) = search(ClusterSearchTests.key, [failure]).conclusion()
            #expect(
                mayWorkAlone && reason.hasPrefix("no node found (at 10.0.0.1:7420: "), "the reason is told: \(reason)")
            #expect(!search(ClusterSearchTests.credential, [failure]).conclusion().mayWorkAlone)
        }
    }

    @Test func `nodes with another key end a command that names one, and are named`() {
        let one = search(ClusterSearchTests.key, strangers: [stranger(2)]).conclusion()
        #expect(!one.mayWorkAlone)
        #expect(
            one.reason.hasPrefix(
                "a node with another cluster key is heard, at 10.0.0.2:7420, and none with the key b.key; name its key")
        )
        let many = search(ClusterSearchTests.credential, strangers: (1...5).map { stranger($0) }).conclusion()
        #expect(
            !many.mayWorkAlone
                && many.reason.hasPrefix("5 nodes with another cluster key are heard, at 10.0.0.1:7420, "))
        #expect(many.reason.contains(" and 2 more, and none with that of the credential of user alice; the credential"))
        #expect(many.reason.contains("have one issued under this one (skynode key issue alice)"))
        #expect(!many.reason.contains("--cluster-key"), "no other key helps whoever has only the credential")
        let keyless = search(ClusterSearchTests.key, strangers: [stranger(1, key: 0)]).conclusion()
        #expect(!keyless.mayWorkAlone && keyless.reason.hasPrefix("a node without a cluster key is heard"))
        #expect(keyless.reason.contains("; start it with the cluster's key"))
        let without = search(.nothing, strangers: [stranger(1)]).conclusion()
        #expect(
            without.mayWorkAlone
                && without.reason == "no node found (a node with a cluster key is heard, at 10.0.0.1:7420)")
    }

    @Test func `a node that takes the command is used, with a line about those that do not`() {
        #expect(search(ClusterSearchTests.key).remark(using: address(9)) == nil)
        #expect(
            search(ClusterSearchTests.credential, [ClusterSearchTests.revoked]).remark(using: address(9))
                == "the node at 10.0.0.1:7420 refuses this command: the credential of user alice has been revoked; using the node at 10.0.0.9:7420"
        )
    }

    @Test func `a key that nobody has named is named`() {
        let identity = ClusterSearch.Identity.key(
            file: "/etc/k", remark: " (the key /etc/k was taken because none was named)")
        for search in [search(identity, [ClusterSearchTests.otherKey]), search(identity, strangers: [stranger(1)])] {
            #expect(search.conclusion().reason.contains("key (the key /etc/k was taken because none was named)"))
        }
    }
}
