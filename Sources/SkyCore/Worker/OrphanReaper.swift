import Dispatch
import Glibc
import NIOConcurrencyHelpers

/// What process 1 of a container owes to the others. Linux gives it the processes whose parents have ended, and keeps an entry for
/// each that ends until process 1 has asked for its exit status (pid_namespaces(7)); and signals whose effect is the usual one do not
/// reach it.
package enum OrphanReaper {
    /// The processes that this program has started, and asks for itself.
    private static let own = NIOLockedValueBox<Set<pid_t>>([])
    private static let isNeeded = getpid() == 1
    private static let queue = DispatchQueue(label: "skynode.orphans")
    /// Dispatch lets any thread use a source, and this one is changed by `start` only.
    private nonisolated(unsafe) static let source = DispatchSource.makeSignalSource(signal: SIGCHLD, queue: queue)
    /// How long to wait for the thread that asks for a process of our own.
    private static let pause = DispatchTimeInterval.milliseconds(50)

    /// Begins to ask for the processes of others, if this is process 1. Call it before there are threads.
    package static func start() {
        guard isNeeded else { return }
        // Those who handle these signals in another way replace this.
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] { Glibc.signal(signal) { _exit(128 + $0) } }
        source.setEventHandler { reap() }
        source.activate()
    }

    /// Starts a process whose exit status is left to the caller.
    ///
    /// - Parameter start: returns the number of the process; 0 if it was not started.
    static func sparing(_ start: () -> pid_t) {
        guard isNeeded else { return _ = start() }
        // The lock keeps `reap` from a process that ends before its number is known.
        own.withLockedValue { _ = $0.insert(start()) }
    }

    /// Asks for the exit status of a process of our own, after which the system may give its number to another.
    static func wait(for process: pid_t) {
        func wait() {
            var status: Int32 = 0
            while waitpid(process, &status, 0) == -1, errno == EINTR {}
        }
        guard isNeeded else { return wait() }
        own.withLockedValue { own in
            wait()
            own.remove(process)
        }
    }

    private static func reap() {
        while true {
            var information = siginfo_t()
            guard waitid(P_ALL, 0, &information, WEXITED | WNOHANG | WNOWAIT) == 0 else { return }
            let process = information._sifields._sigchld.si_pid
            guard process != 0 else { return }
            guard !own.withLockedValue({ $0.contains(process) }) else {
                // The system tells of others only when this one is gone, and then there is no further signal.
                return queue.asyncAfter(deadline: .now() + pause) { reap() }
            }
            var status: Int32 = 0
            waitpid(process, &status, WNOHANG)
        }
    }
}
