import Glibc
import NIOCore

/// timerfd_create(2) and timerfd_settime(2), which Swift's module map of glibc does not show.
enum KernelTimer {
    /// The bytes that are read from a timer that has ended: they tell how often it has.
    static let wordSize = 8

    private typealias Create = @convention(c) (CInt, CInt) -> CInt
    private typealias Set =
        @convention(c) (CInt, CInt, UnsafePointer<itimerspec>, UnsafeMutablePointer<itimerspec>?) -> CInt
    private static let create = dlsym(nil, "timerfd_create").map { unsafeBitCast($0, to: Create.self) }
    private static let set = dlsym(nil, "timerfd_settime").map { unsafeBitCast($0, to: Set.self) }
    /// TFD_TIMER_ABSTIME of sys/timerfd.h; TFD_NONBLOCK and TFD_CLOEXEC are those of files.
    private static let isAbsolute: CInt = 1

    /// Makes a timer that does not run; `nil` where there can be none.
    static func make() -> CInt? {
        guard set != nil, let descriptor = create?(CLOCK_MONOTONIC, O_NONBLOCK | O_CLOEXEC), descriptor >= 0 else {
            return nil
        }
        return descriptor
    }

    /// Sets a timer on the clock of `NIODeadline`. The distant future stops it.
    static func set(_ descriptor: CInt, to end: NIODeadline) {
        var time = itimerspec()
        if end != .distantFuture {
            // Zero would stop it.
            let nanoseconds = max(1, end.uptimeNanoseconds)
            time.it_value.tv_sec = Int(nanoseconds / 1_000_000_000)
            time.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
        }
        _ = set?(descriptor, isAbsolute, &time, nil)
    }
}
