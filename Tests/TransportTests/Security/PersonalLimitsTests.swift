import Cryptography
import FoundationEssentials
import Testing

@testable import Transport

@Suite struct PersonalLimitsTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func identity(_ uris: [String]) throws -> PeerIdentity? {
        let names = uris.map { "URI:\($0)" }.joined(separator: ",")
        let request = CertificateRequest(
            commonNames: ["alice"], notBefore: now, notAfter: now + 60,
            extensions: [CertificateExtension(.subjectAlternativeName, names)])
        return PeerIdentity(der: try request.issued(to: SigningKey()).der)
    }

    private func limits(_ uris: [String]) throws -> PersonalLimits? {
        guard case .person(let certificate)? = try identity(["urn:skynet:user:alice"] + uris) else { return nil }
        return certificate.person.limits
    }

    @Test func `a credential carries limits, and is read back with them`() throws {
        let key = try ClusterKey.make(now: .now)
        for limits in [
            PersonalLimits(), PersonalLimits(slots: 4), PersonalLimits(slots: 1, jobs: 10, bytes: 20 << 30),
            PersonalLimits(slots: 1 << 20, jobs: 1_000_000, bytes: 1 << 50),
        ] {
            let limits = try #require(limits)
            let person = try #require(Person(name: "alice", role: .user, limits: limits))
            let credential = try Credential.issue(to: person, by: key, validFor: 3600, now: .now)
            let read = try Credential(pem: credential.pem, from: "laptop.pem")
            #expect(read.person == person && read.person.limits == limits)
        }
    }

    @Test func `each limit is optional, in any order`() throws {
        #expect(try limits([]) == PersonalLimits())
        #expect(try limits(["urn:skynet:limit:jobs:7"]) == PersonalLimits(jobs: 7))
        #expect(
            try limits(["urn:skynet:limit:bytes:1", "urn:skynet:limit:slots:2", "https://example.org"])
                == PersonalLimits(slots: 2, bytes: 1))
    }

    @Test(arguments: [
        ["slots:0"], ["slots:-1"], ["slots:+4"], ["slots:04"], ["slots: 4"], ["slots:4 "], ["slots:"], ["slots"], [""],
        ["slots:4:4"],
        ["slots:1048577"], ["jobs:1000001"], ["bytes:1125899906842625"], ["bytes:99999999999999999999"],
        ["bytes:20G"], ["slots:0x4"], ["Slots:4"], ["memory:4"], ["slots:٤"],
        // Two of one kind, also where they say the same.
        ["slots:4", "slots:5"], ["jobs:4", "jobs:4"], ["slots:4", "jobs:x"],
    ])
    func `a certificate with a limit in another spelling has no identity`(limits: [String]) throws {
        #expect(PersonalLimits(uris: limits.map { "urn:skynet:limit:\($0)" }) == nil)
        guard limits.allSatisfy({ $0.utf8.allSatisfy { (0x21..<0x7F).contains($0) } }) else { return }
        #expect(try identity(["urn:skynet:user:alice"] + limits.map { "urn:skynet:limit:\($0)" }) == nil)
    }

    @Test(arguments: [
        ["urn:skynet:operator:olga", "urn:skynet:limit:slots:4"],
        ["urn:skynet:node:00000000000000ff", "urn:skynet:limit:slots:4"], ["urn:skynet:limit:slots:4"],
        ["urn:skynet:user:alice", "URN:skynet:limit:slots:4"], ["urn:skynet:user:alice", "urn:skynet:LIMIT:slots:4"],
    ])
    func `only users are limited`(uris: [String]) throws {
        #expect(try identity(uris) == nil)
    }

    @Test func `an operator has none, and none is out of range`() throws {
        let limits = try #require(PersonalLimits(slots: 1))
        #expect(Person(name: "olga", role: .operator, limits: limits) == nil)
        #expect(Person(name: "olga", role: .operator)?.limits.isEmpty == true)
        for value in [0, -1, .min, .max] {
            #expect(PersonalLimits(slots: value) == nil && PersonalLimits(jobs: value) == nil)
            #expect(PersonalLimits(bytes: value) == nil)
        }
    }

    @Test func `what is read from a journal or from another node is in range, too`() throws {
        let limits = try #require(PersonalLimits(slots: 4, bytes: 7))
        let text = try JSONEncoder().encode(limits)
        #expect(try JSONDecoder().decode(PersonalLimits.self, from: text) == limits)
        for text in [#"{"slots": 0}"#, #"{"jobs": -9223372036854775808}"#, #"{"bytes": 1125899906842625}"#] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(PersonalLimits.self, from: Data(text.utf8))
            }
        }
        #expect(try JSONDecoder().decode(PersonalLimits.self, from: Data("{}".utf8)) == PersonalLimits())
    }
}
