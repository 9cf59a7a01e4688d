import Dispatch
import Glibc
import Sky
import SkyCore
import Synchronization

/// Ends this process by a signal in the usual way, but removes the files before that it has not completed.
///
/// A handler may do hardly anything, because it runs in the middle of something else (signal-safety(7)). So it wakes a thread that does
/// nothing but this, and needs no other: the process ends even where a stalled pipe holds up everything that prints.
enum SignalEnd {
    private nonisolated(unsafe) static let received = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    /// The first signal that was received; 0 before that.
    private static let signal = Atomic<Int32>(0)
    /// When it was received, in nanoseconds of the machine's uptime.
    private static let time = Atomic<UInt64>(0)

    /// Begins to wait for signals. A signal that is ignored from the start stays ignored: `nohup` is used for that.
    static func start() {
        sem_init(received, 0, 0)
        guard DetachedThread.start({ end() }) else { return }
        for signal in [SIGHUP, SIGINT, SIGTERM, SIGQUIT] where !isIgnored(signal) { cause(by: signal) }
    }

    /// Has these signals end the process from now on. `start` must have been called before.
    static func cause(by signals: Int32...) {
        for signal in signals { Glibc.signal(signal) { SignalEnd.receive($0) } }
    }

    private static func receive(_ number: Int32) {
        let now = DispatchTime.now().uptimeNanoseconds
        let (isFirst, begun) = time.compareExchange(expected: 0, desired: now, ordering: .sequentiallyConsistent)
        if isFirst {
            signal.store(number, ordering: .sequentiallyConsistent)
            sem_post(received)
        } else if !NodeService.isEcho(after: .nanoseconds(now &- begun)) {
            // The disk does not answer. When a terminal is closed, the system and the shell send a signal each.
            _exit(128 + number)
        }
    }

    private static func end() {
        while sem_wait(received) != 0 {}
        StagedFiles.abandon()
        let number = signal.load(ordering: .sequentiallyConsistent)
        Glibc.signal(number, SIG_DFL)
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, number)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        raise(number)
        // Process 1 of a container is not ended by a signal.
        _exit(128 + number)
    }

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        sigaction(signal, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
