import CLinux
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

    /// Below this much address space a worker process does not start, or ends in the middle of a task for want of room for one
    /// more thread. A test looks: one of the debug build takes 280 MiB on a machine of two
    /// processors, and 2 MiB more for each further one.
    package static let leastAddressSpace: UInt64 = 512 << 20

    /// Bytes that the stack of each thread started from now on reserves. By itself it is what `ulimit -s` says, mostly 8 MiB,
    /// and there is a thread for each processor: on a large machine they would take all addresses that a worker may have.
    package static func setThreadStacks(to bytes: Int) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        guard pthread_attr_setstacksize(&attributes, bytes) == 0 else { return }
        pthread_setattr_default_np(&attributes)
    }

    /// Deep enough for the C libraries, whose largest buffers on it are some hundred kilobytes.
    package static let workerStack = 2 << 20

    /// Address space beyond `limit` is refused to this process.
    ///
    /// Not under Thread Sanitizer, which reserves more of it at once than any machine has memory. Whether it is there is
    /// asked of the running program: its functions are in no header, and are only linked where it was asked for.
    package static func setAddressSpace(to limit: UInt64) {
        if dlsym(nil, "__tsan_init") == nil { set(RLIMIT_AS, to: limit) }
    }

    /// Has the kernel kill this process when the thread that started it ends (prctl(2)).
    package static func endWithParent(_ parent: Int32) {
        _ = linux_prctl(PR_SET_PDEATHSIG, UInt(SIGKILL))
        // It may have ended before we asked.
        if getppid() != parent { _exit(0) }
    }
}
