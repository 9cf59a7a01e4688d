/// Bytes of calls, or of answers, that wait in an outbox. Bodies that are cut and bodies that are not cut are counted separately:
/// one long body takes turns with the short ones and must not make all of them wait.
package struct OutboxLoad: Sendable {
    private var uncut = 0
    private var cut = 0

    package var bytes: Int { uncut + cut }

    /// Whether another body may be encoded.
    package var hasRoom: Bool { uncut < FrameLimits.uncutWaiting && cut < FrameLimits.cutWaiting }

    /// Adds `bytes` that wait, or takes them off where the number is negative.
    mutating func add(_ bytes: Int, isCut: Bool) {
        if isCut { cut += bytes } else { uncut += bytes }
    }
}
