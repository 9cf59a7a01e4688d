import CLinux
import Glibc
import NIOCore

/// A timer of the kernel's that is waited for as a file is: timerfd_create(2), timerfd_settime(2).
enum KernelTimer {
    /// What is read of one that has ended: how often.
    static let wordSize = 8

    /// One that does not run; `nil` where there can be none.
    static func make() -> CInt? {
        let descriptor = timerfd_create(CLOCK_MONOTONIC, CInt(TFD_NONBLOCK) | CInt(TFD_CLOEXEC))
        return descriptor >= 0 ? descriptor : nil
    }

    /// On the clock of `NIODeadline`; the distant future stops it.
    static func set(_ descriptor: CInt, to end: NIODeadline) {
        var time = itimerspec()
        if end != .distantFuture {
            // Zero would stop it.
            let nanoseconds = max(1, end.uptimeNanoseconds)
            time.it_value.tv_sec = Int(nanoseconds / 1_000_000_000)
            time.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
        }
        timerfd_settime(descriptor, CInt(TFD_TIMER_ABSTIME), &time, nil)
    }
}
