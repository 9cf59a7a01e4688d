import Base
import Cryptography
import Testing

@testable import Transport

@Suite(.timeLimit(.minutes(5))) struct SigningKeyTests {
    /// Bytes of hexadecimal digits.
    private func bytes(_ text: String) -> [UInt8] {
        var rest = text[...]
        var bytes: [UInt8] = []
        while let byte = UInt8(rest.prefix(2), radix: 16) {
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    private func contents(of key: SigningKey) -> [UInt8] { key.pkcs8.withUnsafeBytes { Array($0) } }

    @Test func `a key survives its document, and every key is another`() throws {
        let key = try SigningKey()
        let read = try SigningKey(pkcs8: key.pkcs8)
        #expect(read.scalar == key.scalar && read.publicKey == key.publicKey)
        #expect(key.publicKey.count == 65 && key.publicKey.first == 4 && key.scalar.count == 32)
        #expect(try SigningKey().scalar != key.scalar)
    }

    /// Keys that `openssl` made.
    @Test(arguments: [
        "",
        // ECDSA on P-384.
        "3081b6020100301006072a8648ce3d020106052b8104002204819e30819b0201010430d91da9fbc3e522c5f6a6e377ab0a65c5f456d492"
            + "ccbd7e3ea08da618d84b0d36faf7a8868945c6f6cddfe34d6d21a77ca16403620004c61431b317fafa34edc2ef61c5c5793b6fe7"
            + "0f4870d451cea4a2f180898d41f7b713388c3380ec146f13edf7e36930e05e2834e372b526bfa47312fdbfecf602032de448f4aa"
            + "a9d511752f0eb185dc1048ca73e06f9539f2585382d29f5fdd0d",
        // Ed25519.
        "302e020100300506032b657004220420df494e8d5fd46bff9c2357d93cd41d27b691135f5de008c162f33e04c07de942",
    ])
    func `keys for other signatures are refused`(hexadecimal: String) {
        #expect(throws: CryptographyError.self) { try SigningKey(pkcs8: Secret(bytes(hexadecimal))) }
    }

    @Test func `a private key with the public key of another one is refused`() throws {
        let (key, other) = (try SigningKey(), try SigningKey())
        // The document ends with the public key.
        let mixed = contents(of: key).dropLast(65) + other.publicKey
        #expect(throws: CryptographyError.self) { try SigningKey(pkcs8: Secret(Array(mixed))) }
    }

    @Test func `every damaged document is refused or still the same key`() throws {
        let key = try SigningKey()
        let good = contents(of: key)
        for length in 0..<good.count {
            #expect(throws: CryptographyError.self) { try SigningKey(pkcs8: Secret(Array(good[..<length]))) }
        }
        #expect(throws: CryptographyError.self) { try SigningKey(pkcs8: Secret(good + [0])) }
        var random = SeededGenerator(seed: 13)
        for _ in 0..<500 {
            var damaged = good
            damaged[Int.random(in: 0..<good.count, using: &random)] = .random(in: 0...255, using: &random)
            if let read = try? SigningKey(pkcs8: Secret(damaged)) { #expect(read.scalar == key.scalar) }
        }
    }
}
