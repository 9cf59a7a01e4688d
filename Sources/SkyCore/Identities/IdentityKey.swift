import Cryptography
import Transport

/// The key from which a lasting identity follows: that of a coordinator, or of a data folder that keeps copies. Whoever has the key
/// proves it, and nobody else speaks for the identity.
///
/// It follows from a secret that lies beside what it is the identity of. So a coordinator's key is in its journal, and in the copies
/// of it: the node that takes the coordinator over speaks for it as the one before did.
struct IdentityKey: Sendable {
    private let key: SigningKey
    private let publicKey: [UInt8]
    private let purpose: String

    /// The key of a coordinator.
    static func coordinator(secret: [UInt8]) -> IdentityKey { IdentityKey(secret, "coordinator") }

    /// The key of a coordinator, where its id follows from its secret: an earlier version drew the ids of its coordinators.
    static func of(_ coordinator: CoordinatorID, secret: [UInt8]) -> IdentityKey? {
        let key = IdentityKey.coordinator(secret: secret)
        return key.coordinator == coordinator ? key : nil
    }

    /// The key of a data folder.
    static func replica(secret: [UInt8]) -> IdentityKey { IdentityKey(secret, "replica") }

    private init(_ secret: [UInt8], _ purpose: String) {
        let secret = Secret(secret)
        // One number of 2^32 is none of a key.
        var number = 1
        while true {
            let scalar = secret.derived("skynet \(purpose) key \(number)", length: 32)
            if let key = try? SigningKey(scalar: scalar) {
                (self.key, self.purpose) = (key, purpose)
                publicKey = key.verifier.der
                return
            }
            number += 1
        }
    }

    /// The number that follows from the key. Nobody finds another key with the same number.
    private var number: UInt64 { IdentityProof.number(of: publicKey, purpose) }
    var coordinator: CoordinatorID { CoordinatorID(rawValue: number) }
    var replica: ReplicaID { ReplicaID(rawValue: number) }

    /// A proof that this identity speaks from that node. The node's certificate tells the others that it is that node.
    ///
    /// - Parameter words: what is said besides.
    func proof(from node: NodeID, _ words: String = "") -> IdentityProof {
        IdentityProof(
            publicKey: publicKey,
            signature: key.signature(of: IdentityProof.message(purpose, number, from: node, words)))
    }
}

/// That the owner of an identity's key speaks from a node.
package struct IdentityProof: Hashable, Codable, Sendable {
    /// SubjectPublicKeyInfo (RFC 5280, 4.1).
    var publicKey: [UInt8]
    var signature: [UInt8]

    /// The longest of both, in bytes, so that nobody is kept busy with long ones.
    private static let limit = 128

    func proves(_ coordinator: CoordinatorID, from node: NodeID, _ words: String = "") -> Bool {
        proves("coordinator", coordinator.rawValue, from: node, words)
    }

    func proves(_ replica: ReplicaID, from node: NodeID, _ words: String = "") -> Bool {
        proves("replica", replica.rawValue, from: node, words)
    }

    private func proves(_ purpose: String, _ number: UInt64, from node: NodeID, _ words: String) -> Bool {
        guard publicKey.count <= IdentityProof.limit, signature.count <= IdentityProof.limit,
            IdentityProof.number(of: publicKey, purpose) == number,
            let verifier = try? SignatureVerifier(der: publicKey)
        else { return false }
        return verifier.isAuthentic(signature, for: IdentityProof.message(purpose, number, from: node, words))
    }

    fileprivate static func number(of publicKey: [UInt8], _ purpose: String) -> UInt64 {
        SHA256.digest(of: Array("skynet \(purpose) 1\n".utf8) + publicKey).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    fileprivate static func message(_ purpose: String, _ number: UInt64, from node: NodeID, _ words: String) -> [UInt8]
    {
        Array("skynet identity 1\n\(purpose)\n\(number)\n\(node)\n\(words)".utf8)
    }
}
