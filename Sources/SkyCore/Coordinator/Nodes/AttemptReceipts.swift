import Cryptography
import Transport

/// Proofs that an attempt was sent to a node, which the node sends back with the result.
///
/// A coordinator that was started again does not know what its earlier incarnations sent to which node. Without a proof every
/// member could claim the result of any task of theirs. The secret is stored in the journal, so that it outlives the process.
struct AttemptReceipts: Sendable {
    /// What a task asks, as far as it may have asked something else in an earlier incarnation.
    struct Question {
        /// The results that the task follows from; see `TaskBasis`.
        var basis: UInt64
        /// The first generation of the coordinator whose attempts count; `nil` for any.
        var since: UInt64?
    }

    private let secret: Secret

    /// - Parameter secret: bytes that nobody else knows.
    init(secret: [UInt8]) {
        self.secret = Secret(secret)
    }

    /// The first bytes of an HMAC (RFC 2104) over the whole identity of the attempt and the node, and over what the task is based on.
    /// Nobody guesses one of 2^64 values in the time that a job takes.
    func receipt(for attempt: AttemptID, basis: UInt64, on node: NodeID) -> UInt64 {
        var words = [
            attempt.job.rawValue, UInt64(bitPattern: Int64(attempt.task.index)),
            UInt64(bitPattern: Int64(attempt.number)), attempt.generation, node.rawValue,
        ]
        // Without it where there is none: so earlier versions make receipts, too.
        if basis != 0 { words.append(basis) }
        let code = words.withUnsafeBytes { secret.authenticationCode(for: $0) }
        return code.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    }
}
