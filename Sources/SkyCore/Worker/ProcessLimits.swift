package import Glibc

/// What this process takes upon itself as a worker.
package enum ProcessLimits {
    /// Never more than `limit` of a resource, nor allowed to ask for more later.
    package static func set(_ resource: __rlimit_resource, to limit: UInt64) {
        var current = rlimit()
        getrlimit(__rlimit_resource_t(resource.rawValue), &current)
        let limit = min(rlim_t(limit), current.rlim_max)
        var wanted = rlimit(rlim_cur: limit, rlim_max: limit)
        setrlimit(__rlimit_resource_t(resource.rawValue), &wanted)
    }

    /// Address space beyond `limit` is refused to this process.
    ///
    /// Not under Thread Sanitizer, which reserves more of it at once than any machine has memory.
    package static func setAddressSpace(to limit: UInt64) {
        if dlsym(nil, "__tsan_init") == nil { set(RLIMIT_AS, to: limit) }
    }

    /// Has the kernel kill this process when the thread that started it ends: `PR_SET_PDEATHSIG` (prctl(2)), which Swift's
    /// module map of glibc does not show because `prctl` takes any arguments.
    package static func endWithParent(_ parent: pid_t) {
        typealias Control = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
        let setParentDeathSignal: Int32 = 1
        if let symbol = dlsym(nil, "prctl") {
            _ = unsafeBitCast(symbol, to: Control.self)(setParentDeathSignal, UInt(SIGKILL), 0, 0, 0)
        }
        // It may have ended before we asked.
        if getppid() != parent { _exit(0) }
    }
}
