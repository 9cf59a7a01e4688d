import Cryptography
import FoundationEssentials
import Testing

@testable import Transport

@Suite(.timeLimit(.minutes(5))) struct CertificateTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func request(_ name: String, _ extensions: [CertificateExtension] = []) -> CertificateRequest {
        CertificateRequest(commonNames: [name], notBefore: now, notAfter: now + 60, extensions: extensions)
    }

    private static let authority = CertificateExtension(.basicConstraints, "critical,CA:TRUE")

    @Test func `a certificate is read back as it was made`() throws {
        let key = try SigningKey()
        let made = try request("m31", [CertificateExtension(.subjectAlternativeName, "URI:a:b,DNS:c,URI:d")]).issued(
            to: key)
        let read = try Certificate(der: made.der)
        #expect(read == made)
        #expect(read.notBefore == now && read.notAfter == now + 60)
        #expect(read.commonNames == ["m31"] && read.uris == ["a:b", "d"])
        #expect(read.belongs(to: key))
        #expect(try !read.belongs(to: SigningKey()))
        #expect(read.isSigned(by: read) && !read.isRootAuthority)
        #expect(read.serialNumber.count == 20)
    }

    @Test func `years after 2049 are written too`() throws {
        var request = request("m31")
        request.notAfter = Date(timeIntervalSince1970: 4_000_000_000)
        #expect(try request.issued(to: SigningKey()).notAfter == Date(timeIntervalSince1970: 4_000_000_000))
        request.notAfter = Date(timeIntervalSince1970: .infinity)
        #expect(throws: CryptographyError.self) { try request.issued(to: SigningKey()) }
    }

    @Test func `an extension that says nothing is refused`() throws {
        #expect(throws: CryptographyError.self) {
            try request("m31", [CertificateExtension(.keyUsage, "nonsense")]).issued(to: SigningKey())
        }
    }

    @Test func `a certificate is signed by the key that signed it, whatever its issuer's name`() throws {
        let (key, other) = (try SigningKey(), try SigningKey())
        let root = try request("Observatory", [CertificateTests.authority]).issued(to: key)
        let namesake = try request("Observatory", [CertificateTests.authority]).issued(to: other)
        let leaf = try request("host").issued(to: try SigningKey(), by: (root, key))
        #expect(root.isRootAuthority && !leaf.isRootAuthority)
        #expect(leaf.isSigned(by: root) && !leaf.isSigned(by: namesake) && !leaf.isSigned(by: leaf))
    }

    @Test func `damaged certificates neither trap nor keep a signature`() throws {
        let key = try SigningKey()
        let good = try request(
            "m31",
            [
                CertificateTests.authority, CertificateExtension(.keyUsage, "critical,keyCertSign"),
                CertificateExtension(.subjectKeyIdentifier, "hash"),
                CertificateExtension(.extendedKeyUsage, "serverAuth,clientAuth"),
                CertificateExtension(.subjectAlternativeName, "URI:a,DNS:b,IP:192.0.2.1,email:c@d"),
            ]
        ).issued(to: key)
        for length in 0..<good.der.count {
            #expect(throws: CryptographyError.self) { try Certificate(der: Array(good.der[..<length])) }
        }
        #expect(throws: CryptographyError.self) { try Certificate(der: good.der + [0]) }
        var random = SeededGenerator(seed: 17)
        for _ in 0..<5_000 {
            var bytes = good.der
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[index] = .random(in: 0...255, using: &random)
                case 1: bytes[index] &+= 1
                case 2: bytes.remove(at: index)
                default: bytes.insert(0x80, at: index)
                }
            }
            guard let read = try? Certificate(der: bytes) else { continue }
            _ = (read.uris, read.commonNames, read.serialNumber, read.isRootAuthority, read.belongs(to: key))
            _ = read.text(of: .subjectAlternativeName)
            if read.isSigned(by: good) { #expect(read.notAfter == good.notAfter && read.uris == good.uris) }
        }
    }

    @Test func `documents are found among lines for people, and damaged or encrypted ones refused`() throws {
        let documents = [
            PEMDocument(label: "ONE", contents: Secret([1, 2, 3])), PEMDocument(label: "TWO", contents: Secret([4])),
        ]
        let texts = documents.map(\.text)
        #expect(texts[0] == "-----BEGIN ONE-----\nAQID\n-----END ONE-----\n")
        let read = try PEMDocument.all(in: "# words\n\(texts[0])between\r\n\(texts[1])after")
        #expect(read.map(\.label) == ["ONE", "TWO"] && read.map(\.contents) == documents.map(\.contents))
        #expect(try PEMDocument.all(in: "").isEmpty && PEMDocument.all(in: "words").isEmpty)
        for damage in [String(texts[0].dropLast(10)), texts[0].replacing("AQID", with: "A*ID")] {
            #expect(throws: CryptographyError.self) { try PEMDocument.all(in: damage) }
        }
        let encrypted = texts[0].replacing("AQID", with: "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAQID")
        #expect(throws: CryptographyError.self) { try PEMDocument.all(in: encrypted) }
    }
}
