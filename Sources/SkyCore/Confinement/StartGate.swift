package import Base
import CLinux
import Glibc

/// Holds a worker process back, before it has done anything, until its daemon lets it go and hands it its ruleset.
///
/// To load a process takes about as long as to make its rules and to open the socket that it connects to, so both is done at the same
/// time. While it waits it has a single thread, which is the one that Landlock confines.
package final class StartGate: Sendable {
    /// The number under which the process finds the gate.
    package static let descriptor: Int32 = 3

    /// The daemon's end and that of the process, connected sockets (unix(7)).
    private let daemonEnd: Int32
    let processEnd: Int32

    /// What is sent when the gate opens: whether there is a ruleset with it.
    private static let (without, with): (UInt8, UInt8) = (0, 1)

    /// - Throws: `SkyError` if there are no descriptors to be had.
    package init() throws(SkyError) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw SkyError(.failed, "cannot make a pair of sockets: \(String(cString: strerror(errno)))")
        }
        (daemonEnd, processEnd) = (ends[0], ends[1])
    }

    /// A process that waits still ends then.
    deinit {
        close(daemonEnd)
        close(processEnd)
    }

    /// Lets the process go. One that has ended before is noticed by whoever waits for it.
    ///
    /// - Parameter ruleset: what the process may read; `nil` on a machine without Landlock.
    package func open(with ruleset: LandlockRuleset?) {
        _ = linux_send_byte(
            daemonEnd, ruleset == nil ? StartGate.without : StartGate.with, ruleset?.descriptor ?? -1)
    }

    /// Waits in the process until the daemon lets it go.
    ///
    /// - Parameter gate: the end of the process, which is closed then.
    /// - Returns: the descriptor of the ruleset, if the daemon has handed one over.
    /// - Throws: `SkyError` if the daemon is gone, or the ruleset did not arrive.
    static func wait(at gate: Int32 = descriptor) throws(SkyError) -> Int32? {
        defer { close(gate) }
        var (byte, ruleset): (UInt8, Int32) = (0, -1)
        while true {
            let count = linux_receive_byte(gate, &byte, &ruleset)
            if count == -1, errno == EINTR { continue }
            guard count == 1 else { throw SkyError(.failed, "the daemon that started this worker is gone") }
            guard byte == with else { return nil }
            guard ruleset >= 0 else { throw SkyError(.failed, "the rules of what a worker may read did not arrive") }
            return ruleset
        }
    }
}
