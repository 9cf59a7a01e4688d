import Cryptography
import FoundationEssentials
import Testing

@testable import Transport

@Suite(.timeLimit(.minutes(5))) struct PeerIdentityTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    /// A certificate with these names; nobody looks at its signature here.
    private func der(uris: [String], commonNames: [String]) throws -> [UInt8] {
        let names = uris.map { "URI:\($0)" }.joined(separator: ",")
        let request = CertificateRequest(
            commonNames: commonNames, notBefore: now, notAfter: now + 60,
            extensions: uris.isEmpty ? [] : [CertificateExtension(.subjectAlternativeName, names)])
        return try request.issued(to: SigningKey()).der
    }

    @Test func `the node is read back, whatever else the certificate names`() throws {
        let bytes = try der(uris: ["https://example.org", "urn:skynet:node:00000000000000ff"], commonNames: ["m31"])
        #expect(PeerIdentity(der: bytes) == PeerIdentity.node(NodeID(rawValue: 255)))
    }

    @Test(arguments: [
        [], ["https://example.org"], ["urn:skynet:node:ff"], ["urn:skynet:node:00000000000000FF"],
        ["urn:skynet:node:+0000000000000ff"], ["urn:skynet:node:-0000000000000ff"], ["urn:skynet:node:"],
        ["urn:skynet:node:00000000000000ff0"], ["urn:skynet:node:00000000000000f"],
        ["URN:skynet:node:00000000000000ff"],
        // Two nodes at once.
        ["urn:skynet:node:00000000000000ff", "urn:skynet:node:00000000000000fe"],
    ])
    func `a certificate that does not name exactly one node has no identity`(uris: [String]) throws {
        #expect(PeerIdentity(der: try der(uris: uris, commonNames: ["m31"])) == nil)
    }

    @Test(arguments: [[], ["a", "b"], [""], ["a\nb"], [String(repeating: "x", count: 64)], ["skynode"]])
    func `the common name of a certificate does not matter`(names: [String]) throws {
        let bytes = try der(uris: ["urn:skynet:node:00000000000000ff"], commonNames: names)
        #expect(PeerIdentity(der: bytes) == PeerIdentity.node(NodeID(rawValue: 255)))
    }

    @Test func `bytes that are not a certificate have no identity`() throws {
        let good = try der(uris: ["urn:skynet:node:00000000000000ff"], commonNames: ["m31"])
        #expect(PeerIdentity(der: []) == nil)
        #expect(PeerIdentity(der: Array(repeating: 0x30, count: 16_000)) == nil)
        #expect(PeerIdentity(der: Array(repeating: 0x30, count: 1_000_000)) == nil)
        for length in 0..<good.count { #expect(PeerIdentity(der: Array(good[..<length])) == nil) }
        #expect(PeerIdentity(der: good + [0]) == nil)
    }

    @Test func `hostile certificates do not trap`() throws {
        let good = try der(uris: ["urn:skynet:node:00000000000000ff"], commonNames: ["m31"])
        var random = SeededGenerator(seed: 31)
        for _ in 0..<20_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
                case 1: bytes[Int.random(in: 0..<bytes.count, using: &random)] &+= 1
                case 2: bytes.remove(at: Int.random(in: 0..<bytes.count, using: &random))
                default: bytes.insert(0x80, at: Int.random(in: 0..<bytes.count, using: &random))
                }
            }
            _ = PeerIdentity(der: bytes)
        }
    }

    private func hello(_ node: UInt64, _ role: Hello.Role) -> Hello {
        Hello(cluster: "skynet", node: NodeID(rawValue: node), name: "m31", role: role, advertised: nil)
    }

    @Test(arguments: [("user", CallerRole.user), ("operator", .operator)])
    func `a person is read back`(word: String, role: CallerRole) throws {
        let bytes = try der(uris: ["urn:skynet:\(word):alice@dome-2"], commonNames: ["alice"])
        guard case .person(let certificate)? = PeerIdentity(der: bytes) else {
            Issue.record("no person")
            return
        }
        #expect(certificate.person == Person(name: "alice@dome-2", role: role))
        #expect(certificate.issued == now + 3600)
    }

    @Test(arguments: [
        ["urn:skynet:root:alice"], ["urn:skynet:user:"], ["urn:skynet:user:a b"], ["urn:skynet:user:a:b"],
        ["urn:skynet:user"],
        ["URN:skynet:user:alice"], ["urn:skynet:USER:alice"], ["urn:skynet:user:-alice"],
        ["urn:skynet:user:" + String(repeating: "a", count: 64)],
        // Two at once: nobody is to be somebody else as well.
        ["urn:skynet:user:alice", "urn:skynet:operator:alice"], ["urn:skynet:user:alice", "urn:skynet:user:bob"],
        ["urn:skynet:user:alice", "urn:skynet:node:00000000000000ff"],
    ])
    func `a certificate that does not name exactly one person has no identity`(uris: [String]) throws {
        #expect(PeerIdentity(der: try der(uris: uris, commonNames: ["alice"])) == nil)
    }

    @Test func `a person is a client, with an id that the certificate allows, and nothing else`() throws {
        let identity = try #require(PeerIdentity(der: try der(uris: ["urn:skynet:user:alice"], commonNames: [])))
        guard case .person(let certificate) = identity else {
            Issue.record("no person")
            return
        }
        let (own, other) = (certificate.nodeID().rawValue, certificate.nodeID().rawValue)
        #expect(own != other)
        for node in [own, other] { #expect(identity.objection(to: hello(node, .client)) == nil) }
        #expect(identity.objection(to: hello(own, .node))?.reason == .role)
        #expect(identity.objection(to: hello(own, .worker))?.reason == .role)
        // The id of some node, or of another person's command.
        #expect(identity.objection(to: hello(own ^ 1 << 32, .client))?.reason == .identity)
    }

    @Test func `a hello that names another node than the certificate is an error`() {
        let identity = PeerIdentity.node(NodeID(rawValue: 1))
        #expect(identity.objection(to: hello(1, .node)) == nil)
        #expect(identity.objection(to: hello(1, .client)) == nil)
        #expect(identity.objection(to: hello(2, .node))?.text.contains("0000000000000002") == true)
    }
}
