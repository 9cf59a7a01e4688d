/// A hash that is the same in every process and on every machine, which `Hasher` is not. It tells values apart unless
/// somebody makes them up to collide; against that, use SHA-256.
package enum StableHash {
    /// FNV-1a, 64 bit (Fowler, Noll, Vo; RFC 9923).
    package static func of(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
