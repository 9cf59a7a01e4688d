import Base
import CLinux
import Glibc
import NIOConcurrencyHelpers
import Transport

/// A child process in a process group of its own. One thread starts it, watches it and waits for its end.
///
/// It uses `posix_spawn` and `waitid` directly. Foundation's Process misses child exits on Linux, and a waiting thread
/// costs less than the trouble of sharing SIGCHLD with everybody else. The same thread starts the child because Linux ties
/// `PR_SET_PDEATHSIG` to the thread that did, and any other of our threads may end before the daemon does.
final class ChildProcess: Sendable {
    /// 0 until the process is started.
    private let number = NIOLockedValueBox<pid_t>(0)
    private var pid: pid_t { number.withLockedValue { $0 } }
    /// `nil` while the process runs; afterwards how it ended, as in "was killed by signal 11 (Segmentation fault)".
    private let outcome = NIOLockedValueBox<String?>(nil)
    private let isOver = Latch()
    private let ownGroup = NIOLockedValueBox<ControlGroup?>(nil)
    private let signal: Signal

    /// Sends a signal to a process group (kill(2)). In tests the signal may be lost, as with a process that waits for a disk.
    typealias Signal = @Sendable (_ group: pid_t, _ signal: Int32) -> Void

    private init(signal: @escaping Signal) { self.signal = signal }

    /// - Parameters:
    ///   - gate: what the process gets as descriptor `StartGate.descriptor`.
    ///   - makeGroup: makes the control group that the process runs in, which is removed with the process. It is called in the
    ///     thread that starts the process.
    /// - Throws: `SkyError` if the program cannot be started.
    static func start(
        _ executable: String, arguments: [String], standardError: String, gate: StartGate? = nil,
        group makeGroup: @escaping @Sendable () -> ControlGroup? = { nil },
        signal: @escaping Signal = { group, signal in _ = Glibc.kill(-group, signal) }
    ) async throws(SkyError) -> ChildProcess {
        let process = ChildProcess(signal: signal)
        // The thread lives as long as the process, and whoever waits at a gate learns from its end that it will not open.
        let gate = NIOLockedValueBox(gate)
        let fault: SkyError? = await withCheckedContinuation { continuation in
            let hasThread = DetachedThread.start {
                let group = makeGroup()
                let end = spawn(executable, arguments, standardError, gate.withLockedValue { $0 })
                gate.withLockedValue { $0 = nil }
                switch end {
                case .failure(let error):
                    group?.remove()
                    continuation.resume(returning: error)
                case .success(let pid):
                    if let group, group.add(pid) {
                        process.ownGroup.withLockedValue { $0 = group }
                    } else {
                        group?.remove()
                    }
                    process.number.withLockedValue { $0 = pid }
                    continuation.resume(returning: nil)
                    process.awaitEnd()
                }
            }
            if !hasThread {
                continuation.resume(returning: SkyError(.failed, "cannot start a thread to watch \(executable)"))
            }
        }
        if let fault { throw fault }
        return process
    }

    private static func spawn(
        _ executable: String, _ arguments: [String], _ standardError: String, _ gate: StartGate?
    ) -> Result<pid_t, SkyError> {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        // A worker must never write into the catalogue or progress that its parent prints.
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, standardError, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        // Nothing else that is open here is a worker's business.
        if let gate { posix_spawn_file_actions_adddup2(&actions, gate.processEnd, StartGate.descriptor) }
        posix_spawn_file_actions_addclosefrom_np(&actions, StartGate.descriptor + (gate == nil ? 0 : 1))

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The child gets a group of its own. Ctrl-C in a terminal then reaches only the daemon, which stops its workers in
        // order, and a kill reaches everything that the worker started. Signals that are blocked or ignored here are not
        // blocked or ignored in the child.
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        posix_spawnattr_setpgroup(&attributes, 0)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)

        // A crash is expected now and then, and Swift's backtracer would hold the dead process for seconds. Each heap of
        // glibc reserves 64 MiB of addresses, and a worker has a limited number of them (`ProcessLimits`). By default,
        // glibc makes one heap for each thread.
        let environment = ChildProcess.environment + ["SWIFT_BACKTRACE=enable=no", "MALLOC_ARENA_MAX=2"]
        let argv = (["skynode"] + arguments).map { strdup($0) } + [nil]
        let envp = environment.map { strdup($0) } + [nil]
        defer { for pointer in argv + envp { free(pointer) } }
        var pid: pid_t = 0
        var status: Int32 = 0
        OrphanReaper.sparing {
            status = posix_spawn(&pid, executable, &actions, &attributes, argv, envp)
            return status == 0 ? pid : 0
        }
        guard status == 0 else {
            // The C library says of a file that it cannot open for the process what it says of the program.
            if access("/dev/null", R_OK | W_OK) != 0 {
                let reason = String(cString: strerror(errno))
                return .failure(SkyError(.failed, "it needs /dev/null, which cannot be read and written: \(reason)"))
            }
            return .failure(SkyError(.failed, "cannot start \(executable): \(String(cString: strerror(status)))"))
        }
        return .success(pid)
    }

    /// What a worker gets of the daemon's environment, where people put tokens and passwords: how the loader finds libraries, the
    /// C library's tunables, the time zone, that libdispatch is to be silent, and the options of sanitizers.
    private static var environment: [String] {
        var settings: [String] = []
        var pointer = environ
        while let entry = pointer.pointee {
            settings.append(String(cString: entry))
            pointer += 1
        }
        return settings.filter { setting in kept.contains { setting.hasPrefix($0) } }
    }

    private static let kept = [
        "LD_LIBRARY_PATH=", "LD_PRELOAD=", "GLIBC_TUNABLES=", "LIBDISPATCH_LOG=", "TZ=", "ASAN_OPTIONS=",
        "TSAN_OPTIONS=", "UBSAN_OPTIONS=",
    ]

    private func awaitEnd() {
        var information = siginfo_t()
        // WNOWAIT leaves the process unreaped, so that its number cannot be given to another process before we have noted
        // its end. `kill` checks that note first.
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
        let words: String
        let code = information.si_code
        let value = information._sifields._sigchld.si_status
        if code == CLD_EXITED {
            words = value == 0 ? "ended" : "ended with exit code \(value)"
        } else {
            words = "was killed by signal \(value) (\(String(cString: strsignal(value))))"
        }
        let group = ownGroup.withLockedValue { $0 }
        // The processes that it has started are killed with it.
        group?.kill()
        let isOutOfMemory = group?.hasRunOutOfMemory == true
        outcome.withLockedValue { outcome in
            outcome = isOutOfMemory ? "\(words): \(ChildProcess.outOfMemory)" : words
            OrphanReaper.wait(for: pid)
        }
        group?.remove()
        isOver.open()
    }

    /// These words are added to how a process ended if the kernel killed it for its memory.
    static let outOfMemory = "there was no memory left for it"

    /// Whether the process runs in the control group that was made for it.
    var hasOwnGroup: Bool { ownGroup.withLockedValue { $0 != nil } }

    /// The number of the process.
    var identifier: pid_t { pid }

    var isRunning: Bool { outcome.withLockedValue { $0 == nil } }

    /// Sends SIGKILL to the whole group. Does nothing after the process has ended.
    func kill() {
        outcome.withLockedValue { outcome in
            if outcome == nil { signal(pid, SIGKILL) }
        }
    }

    /// Waits for the end of the process, and kills it after `patience`. Returns how it ended.
    func end(within patience: Duration) async -> String {
        if patience > .zero { await hasEnded(within: patience) }
        // The processes that it has started may take longer to end than it did itself.
        if let outcome = outcome.withLockedValue({ $0 }) { return outcome }
        kill()
        // A process that waits for a disk, or for a shared folder whose machine is gone, does not end before that answers.
        // The thread that watches the process cleans up after it, whenever that is.
        let hasEnded = await hasEnded(within: ChildProcess.killPatience)
        // A task that is cancelled does not wait, so it knows nothing about the process yet.
        return hasEnded || Task.isCancelled ? "was killed because it did not stop" : ChildProcess.unkillable
    }

    /// How long a process that was killed may take to be gone.
    private static let killPatience = Duration.seconds(1)
    /// How a process is said to have ended if it does not end.
    static let unkillable =
        "does not stop although it was killed: it waits for a disk or a shared folder that does not answer"

    /// Waits for the end of the process. Returns whether it came within the time.
    @discardableResult
    func hasEnded(within limit: Duration) async -> Bool {
        await isOver.wait(atMost: limit)
    }
}
