import Base
import Cryptography
import Testing

/// The vectors of the standards.
@Suite struct DigestTests {
    private func hmac(_ key: [UInt8], _ message: [UInt8]) -> String {
        HexText.of(message.withUnsafeBytes { Secret(key).authenticationCode(for: $0) })
    }

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func `a SHA-256 is that of FIPS 180-4`(text: String, digest: String) {
        #expect(HexText.of(SHA256.digest(of: Array(text.utf8))) == digest)
    }

    @Test func `a SHA-256 of parts is that of the whole`() {
        let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        var hash = SHA256()
        hash.update([])
        hash.update(bytes[..<1])
        hash.update(bytes[1..<4_097])
        bytes[4_097...].withUnsafeBytes { hash.update($0) }
        #expect(hash.finalize() == SHA256.digest(of: bytes))
    }

    @Test func `an HMAC is that of RFC 4231`() {
        #expect(
            hmac([UInt8](repeating: 0x0b, count: 20), Array("Hi There".utf8))
                == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        #expect(
            hmac(Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        // The key is longer than a block.
        #expect(
            hmac(
                [UInt8](repeating: 0xaa, count: 131),
                Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8))
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    @Test func `a key without bytes is a key`() {
        #expect(hmac([], []) == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
        #expect(hmac([], []) == hmac([0], []))
    }

    @Test func `a code is authentic for its message and its key only`() {
        let (secret, message) = (Secret([1, 2, 3]), Array("a beacon".utf8))
        let code = message.withUnsafeBytes { secret.authenticationCode(for: $0) }
        func isAuthentic(_ code: [UInt8], _ secret: Secret = secret, _ message: [UInt8] = message) -> Bool {
            code.withUnsafeBytes { code in message.withUnsafeBytes { secret.isAuthentic(code, for: $0) } }
        }
        #expect(isAuthentic(code))
        #expect(!isAuthentic(code, Secret([1, 2, 4])))
        #expect(!isAuthentic(code, secret, message + [0]))
        #expect(!isAuthentic(code.dropLast()) && !isAuthentic(code + [0]) && !isAuthentic([]))
        for index in code.indices {
            var changed = code
            changed[index] ^= 1
            #expect(!isAuthentic(changed))
        }
    }

    @Test func `a derived secret is that of RFC 5869`() {
        let secret = Secret([UInt8](repeating: 0x0b, count: 22))
        #expect(
            secret.derived("", length: 42).withUnsafeBytes { HexText.of($0) }
                == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8")
        #expect(secret.derived("a", length: 32) != secret.derived("b", length: 32))
    }

    @Test func `many threads use one secret at once`() async {
        let secret = Secret([UInt8](repeating: 1, count: 32))
        let expected = (hmac([UInt8](repeating: 1, count: 32), [7]), secret.derived("x", length: 32))
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    (0..<100).allSatisfy { _ in
                        HexText.of([UInt8(7)].withUnsafeBytes { secret.authenticationCode(for: $0) }) == expected.0
                            && secret.derived("x", length: 32) == expected.1
                    }
                }
            }
            for await isSame in group { #expect(isSame) }
        }
    }
}
