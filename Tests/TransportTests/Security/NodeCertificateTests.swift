import Cryptography
import FoundationEssentials
import Testing

@testable import Transport

@Suite struct NodeCertificateTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    @Test func `a certificate lives a day, begins an hour ago, and is renewed at two thirds`() throws {
        let key = try ClusterKey.make(now: now)
        let own = try NodeCertificate(issuedBy: key, node: .random(), now: now)
        #expect(own.certificate.notBefore == now - 3600)
        #expect(own.certificate.notAfter == now + 86_400)
        #expect(!own.isRenewalDue(at: now))
        #expect(!own.isRenewalDue(at: now + 57_599))
        #expect(own.isRenewalDue(at: now + 57_600))
    }

    @Test func `a clock that is set back calls for a new certificate`() throws {
        let key = try ClusterKey.make(now: now)
        let own = try NodeCertificate(issuedBy: key, node: .random(), now: now)
        #expect(own.isRenewalDue(at: now - 7200))
    }

    @Test func `a node certificate is signed by the key, for both sides of TLS, and names the node`() throws {
        let key = try ClusterKey.make(now: now)
        let node = NodeID(rawValue: 0xAB)
        let own = try NodeCertificate(issuedBy: key, node: node, now: now)
        #expect(own.certificate.isSigned(by: key.certificate))
        let uses = own.certificate.text(of: .extendedKeyUsage)
        #expect(uses == "TLS Web Server Authentication, TLS Web Client Authentication")
        #expect(own.certificate.text(of: .basicConstraints) == "CA:FALSE")
        #expect(own.certificate.text(of: .keyUsage) == "Digital Signature")
        #expect(PeerIdentity(der: own.certificate.der) == PeerIdentity.node(node))
    }

    @Test func `a certificate does not reveal the node's name`() throws {
        let key = try ClusterKey.make(now: now)
        let certificates = try (1...2).map {
            try NodeCertificate(issuedBy: key, node: NodeID(rawValue: $0), now: now).certificate
        }
        #expect(certificates[0].commonNames == certificates[1].commonNames)
        // Nodes of the version before this one want exactly one common name that can be shown.
        let names = certificates[0].commonNames
        #expect(names.count == 1 && names.first.map(Hello.isValidName) == true)
    }

    @Test func `two certificates of one node share neither key nor number`() throws {
        let key = try ClusterKey.make(now: now)
        let (one, two) = (
            try NodeCertificate(issuedBy: key, node: NodeID(rawValue: 1), now: now),
            try NodeCertificate(issuedBy: key, node: NodeID(rawValue: 1), now: now)
        )
        #expect(one.certificate.serialNumber != two.certificate.serialNumber)
        #expect(one.privateKey.scalar != two.privateKey.scalar)
    }

    @Test func `nothing is issued beyond the time of the key`() throws {
        let key = try ClusterKey.make(now: now)
        let last = try NodeCertificate(issuedBy: key, node: .random(), now: key.validUntil - 60)
        #expect(last.certificate.notAfter == key.validUntil)
        let late = #expect(throws: SecurityError.self) {
            try NodeCertificate(issuedBy: key, node: .random(), now: key.validUntil)
        }
        #expect(late?.description.contains("skynode key new") == true)
        let early = #expect(throws: SecurityError.self) {
            try NodeCertificate(issuedBy: key, node: .random(), now: now - 2 * 86_400)
        }
        #expect(early?.description.contains("set the clock") == true)
    }

    @Test func `moments are shown in UTC`() {
        #expect(DayText.of(now) == "2027-01-15 08:00 UTC")
    }
}
