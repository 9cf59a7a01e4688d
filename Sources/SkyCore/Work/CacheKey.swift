package import Base
import Cryptography
import Transport

/// A key made from everything that a task's result depends on: the kind of work, its parameters, its input, and the
/// arithmetic of the program. Two tasks with equal keys have equal results, so a task need not be done again if one with the
/// same key was done.
package struct CacheKey: Hashable, Sendable {
    /// SHA-256.
    package let digest: [UInt8]

    package init(digest: [UInt8]) {
        self.digest = digest
    }

    package static func digest(of value: some Encodable, by arithmetic: Arithmetic = JobKinds.arithmetic) throws
        -> [UInt8]
    {
        var hash = SHA256()
        hash.update(Array("SkyNet \(arithmetic.text) result 7\n".utf8))
        try WireCoder.encode(value).withUnsafeReadableBytes { hash.update($0) }
        return hash.finalize()
    }
}
