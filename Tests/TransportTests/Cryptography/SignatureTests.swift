import Cryptography
import Testing

@Suite struct SignatureTests {
    private let message = Array("the lens cap is on".utf8)

    @Test func `a signature counts for its message and its key`() throws {
        let (key, other) = (try SigningKey(), try SigningKey())
        let signature = key.signature(of: message)
        let verifier = try SignatureVerifier(der: key.verifier.der)
        #expect(verifier.isAuthentic(signature, for: message))
        #expect(verifier.isAuthentic(key.signature(of: message), for: message), "each is another one")
        #expect(!verifier.isAuthentic(signature, for: message + [0]))
        #expect(!verifier.isAuthentic(signature, for: []))
        #expect(!other.verifier.isAuthentic(signature, for: message))
        #expect(verifier.isAuthentic(key.signature(of: []), for: []))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1
            #expect(!verifier.isAuthentic(changed, for: message))
        }
        for length in signature.indices { #expect(!verifier.isAuthentic(Array(signature[..<length]), for: message)) }
    }

    @Test func `what is no public key of P-256 is refused`() throws {
        let der = try SigningKey().verifier.der
        #expect(throws: CryptographyError.self) { try SignatureVerifier(der: []) }
        #expect(throws: CryptographyError.self) { try SignatureVerifier(der: der + [0]) }
        for length in der.indices {
            #expect(throws: CryptographyError.self) { try SignatureVerifier(der: Array(der[..<length])) }
        }
        // A point that does not lie on the curve.
        var changed = der
        changed[der.count - 1] ^= 1
        #expect(throws: CryptographyError.self) { try SignatureVerifier(der: changed) }
    }
}
