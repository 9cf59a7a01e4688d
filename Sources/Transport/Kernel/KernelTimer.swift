import CLinux
import Glibc
import NIOCore

/// A timer of the kernel that is waited for like a file: timerfd_create(2), timerfd_settime(2).
enum KernelTimer {
    /// The number of bytes that are read from an expired timer. They hold how many times it has expired.
    static let wordSize = 8

    /// Makes a timer that does not run yet. The result is `nil` where the system refuses one.
    static func make() -> CInt? {
        let descriptor = timerfd_create(CLOCK_MONOTONIC, CInt(TFD_NONBLOCK) | CInt(TFD_CLOEXEC))
        return descriptor >= 0 ? descriptor : nil
    }

    /// Sets when a timer expires, on the clock of `NIODeadline`. The distant future stops it.
    static func set(_ descriptor: CInt, to end: NIODeadline) {
        var time = itimerspec()
        if end != .distantFuture {
            // A time of zero would stop the timer.
            let nanoseconds = max(1, end.uptimeNanoseconds)
            time.it_value.tv_sec = Int(nanoseconds / 1_000_000_000)
            time.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
        }
        timerfd_settime(descriptor, CInt(TFD_TIMER_ABSTIME), &time, nil)
    }
}
