package import Base
import CLinux
package import Glibc

/// The limits that a worker process sets for itself, and those that a command must have.
package enum ProcessLimits {
    /// Limits this process to `limit` of a resource. It cannot raise the limit later.
    package static func set(_ resource: __rlimit_resource, to limit: UInt64) {
        let limit = min(rlim_t(limit), current(resource).rlim_max)
        var wanted = rlimit(rlim_cur: limit, rlim_max: limit)
        setrlimit(__rlimit_resource_t(resource.rawValue), &wanted)
    }

    /// Checks before there are threads that as many may be started as `processors` need. Not only `ulimit -u` limits them, and all
    /// processes of a person or of a control group count, so it starts as many: where one is refused, libdispatch waits for ever,
    /// and NIO traps.
    ///
    /// It also gives threads the stacks that they need, where `ulimit -s` allows less.
    ///
    /// - Parameter startsMany: whether this is a node or a worker. For any other command it would take a tenth of its time, more on a
    ///   machine of many processors, so these are checked only where `ulimit -u` is low.
    /// - Throws: `SkyError` naming what may limit them, and how many are needed.
    package static func checkThreads(processors: Int, isWorker: Bool, startsMany: Bool) throws(SkyError) {
        if current(RLIMIT_STACK).rlim_cur < workerStack { setThreadStacks(to: workerStack) }
        guard startsMany || current(__RLIMIT_NPROC).rlim_cur < lowThreadLimit else { return }
        // With two processors, a worker has 8 threads at most, and a daemon in a soak 17.
        let needed = isWorker ? 6 + processors : 10 + 4 * processors
        let started = startThreads(needed)
        guard started == needed else {
            throw SkyError(
                .badInput,
                "only \(started) threads can be started now, and \(needed) are needed: look at ulimit -u, "
                    + "TasksMax of the service, pids.max of the control group, and free memory")
        }
    }

    private static let lowThreadLimit: rlim_t = 4096

    /// Starts `count` threads that live at the same time, and ends them. Returns how many there were.
    private static func startThreads(_ count: Int) -> Int {
        var (gate, attributes) = (pthread_mutex_t(), pthread_attr_t())
        pthread_mutex_init(&gate, nil)
        pthread_attr_init(&attributes)
        pthread_attr_setstacksize(&attributes, 64 << 10)
        var threads: [pthread_t] = []
        withUnsafeMutablePointer(to: &gate) { gate in
            pthread_mutex_lock(gate)
            while threads.count < count {
                var thread = pthread_t()
                let status = pthread_create(
                    &thread, &attributes,
                    { gate in
                        guard let gate = gate?.assumingMemoryBound(to: pthread_mutex_t.self) else { return nil }
                        pthread_mutex_lock(gate)
                        pthread_mutex_unlock(gate)
                        return nil
                    }, gate)
                guard status == 0 else { break }
                threads.append(thread)
            }
            pthread_mutex_unlock(gate)
            for thread in threads { pthread_join(thread, nil) }
        }
        pthread_attr_destroy(&attributes)
        pthread_mutex_destroy(&gate)
        return threads.count
    }

    /// Checks before there are many threads that this process may have what a command needs in any case. NIO and the Swift runtime
    /// trap where they get no descriptor, thread or memory. The limit of open files is raised if this process may do that.
    ///
    /// - Parameters:
    ///   - processors: how many there are to use: each has threads, and these have descriptors and stacks.
    ///   - hasNode: whether a node runs in this process.
    /// - Throws: `SkyError` naming the limit, and how much is needed.
    package static func check(processors: Int, hasNode: Bool) throws(SkyError) {
        let processors = rlim_t(clamping: processors)
        let files: rlim_t = 32 + 6 * processors
        var limit = current(RLIMIT_NOFILE)
        if limit.rlim_cur < files {
            limit.rlim_cur = min(files, limit.rlim_max)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        }
        guard limit.rlim_cur >= files else {
            throw SkyError(
                .badInput,
                "only \(limit.rlim_cur) files may be open at a time, and \(files) are needed: ulimit -n \(files)")
        }
        let space = ((hasNode ? 1024 : 384) + 16 * processors) << 20
        let allowed = current(RLIMIT_AS).rlim_cur
        guard allowed >= space else {
            throw SkyError(
                .badInput,
                "only \(allowed >> 20) MiB of address space are allowed, and \(space >> 20) MiB are needed: "
                    + "ulimit -v \(space >> 10)")
        }
    }

    /// How large this process may make a file, in bytes; `nil` where that is not limited (`ulimit -f`).
    static var fileSize: Int? {
        let limit = current(RLIMIT_FSIZE).rlim_cur
        return limit < rlim_t(Int.max) ? Int(limit) : nil
    }

    private static func current(_ resource: __rlimit_resource) -> rlimit {
        var current = rlimit()
        getrlimit(__rlimit_resource_t(resource.rawValue), &current)
        return current
    }

    /// The least address space in bytes for a worker process. With less, it does not start, or it ends in the middle of a task
    /// because there is no room for one more thread. A test checks this. A worker of the debug build takes 280 MiB on a machine
    /// with two processors, and 2 MiB more for each further one.
    package static let leastAddressSpace: UInt64 = 512 << 20

    /// Sets how many bytes the stack of each thread reserves that is started from now on. The default is that of `ulimit -s`,
    /// usually 8 MiB. There is a thread for each processor, so on a large machine the stacks would take all addresses that a worker
    /// may have.
    package static func setThreadStacks(to bytes: Int) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        guard pthread_attr_setstacksize(&attributes, bytes) == 0 else { return }
        pthread_setattr_default_np(&attributes)
    }

    /// Stack size in bytes of a worker's threads. It is enough for the C libraries, whose largest buffers on the stack are some
    /// hundred kilobytes.
    package static let workerStack = 2 << 20

    /// Limits the address space of this process to `limit` bytes.
    ///
    /// It does nothing under Thread Sanitizer, which reserves more addresses at once than any machine has memory. The running
    /// program is searched for the sanitizer's functions, because they are in no header and are only linked where it was requested.
    package static func setAddressSpace(to limit: UInt64) {
        if dlsym(nil, "__tsan_init") == nil { set(RLIMIT_AS, to: limit) }
    }

    /// Hides this process's memory, open files and environment from all other processes but those of root (PR_SET_DUMPABLE of
    /// prctl(2)). It dumps no core when it crashes.
    package static func hideMemory() { _ = linux_prctl(PR_SET_DUMPABLE, 0) }

    /// Has the kernel kill this process when the thread that started it ends (prctl(2)).
    package static func endWithParent(_ parent: Int32) {
        _ = linux_prctl(PR_SET_PDEATHSIG, UInt(SIGKILL))
        // The parent may have ended before the call.
        if getppid() != parent { _exit(0) }
    }
}
