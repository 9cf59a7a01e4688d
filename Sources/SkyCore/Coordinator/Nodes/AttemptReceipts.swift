import Crypto
import Transport

/// Proofs that an attempt was sent to a node, which the node sends back with the result.
///
/// A coordinator that was started again knows nothing of what its earlier lives had sent where. Without a proof every member
/// could claim the result of any task of theirs. The secret is the journal's, so that it outlives the process.
struct AttemptReceipts: Sendable {
    private let keyed: HMAC<SHA256>

    /// - Parameter secret: bytes that nobody else knows.
    init(secret: [UInt8]) {
        keyed = HMAC<SHA256>(key: SymmetricKey(data: secret))
    }

    /// The first bytes of an HMAC (RFC 2104) over all that the attempt is: nobody guesses one of 2^64 in the time that a job takes.
    func receipt(for attempt: AttemptID, on node: NodeID) -> UInt64 {
        var code = keyed
        let words = [
            attempt.job.rawValue, UInt64(bitPattern: Int64(attempt.task.index)),
            UInt64(bitPattern: Int64(attempt.number)), attempt.generation, node.rawValue,
        ]
        words.withUnsafeBytes { code.update(data: $0) }
        return code.finalize().withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    }
}
