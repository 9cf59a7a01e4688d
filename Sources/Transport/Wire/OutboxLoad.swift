/// Bytes of calls, or of answers, that wait in an outbox. Bodies that are cut and those that are not count apart: one
/// long body must not make all short ones wait, and takes its turns with them.
package struct OutboxLoad: Sendable {
    private var uncut = 0
    private var cut = 0

    package var bytes: Int { uncut + cut }

    /// Whether another body may be encoded.
    package var hasRoom: Bool { uncut < FrameLimits.uncutWaiting && cut < FrameLimits.cutWaiting }

    /// `bytes` more wait, or less where negative.
    mutating func add(_ bytes: Int, isCut: Bool) {
        if isCut { cut += bytes } else { uncut += bytes }
    }
}
