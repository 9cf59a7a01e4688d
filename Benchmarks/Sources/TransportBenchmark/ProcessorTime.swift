import Glibc

/// Processor time that this process has taken so far. Other programs on the machine do not add to it, which makes it
/// the steadiest figure of a shared machine.
enum ProcessorTime {
    static var now: Duration {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        return duration(usage.ru_utime) + duration(usage.ru_stime)
    }

    private static func duration(_ time: timeval) -> Duration {
        .seconds(time.tv_sec) + .microseconds(time.tv_usec)
    }
}
