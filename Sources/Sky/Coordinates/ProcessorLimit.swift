import Glibc

/// Ends this process when a call of a C library takes more processor time than it can ever need.
///
/// There is no other way out of such a call. In a worker process that costs one attempt; in any other process, where nobody
/// has allowed it, nothing is watched.
package enum ProcessorLimit {
    /// Seconds of this process's own time, so that a machine that stands still for a while is nobody's fault.
    private static let seconds = 10

    /// What to say at the end; read by the signal's handler, so a constant that nobody frees.
    nonisolated(unsafe) private static var lastWords: StaticString = ""
    nonisolated(unsafe) private static var isAllowed = false

    /// To be called once by a worker process, before it works.
    package static func allow() {
        isAllowed = true
        signal(SIGVTALRM) { _ in
            let words = ProcessorLimit.lastWords
            // Only what is safe in a handler (signal-safety(7)).
            _ = write(STDERR_FILENO, words.utf8Start, words.utf8CodeUnitCount)
            _exit(70)
        }
    }

    /// From now on, until `end`.
    package static func begin(_ words: StaticString) {
        guard isAllowed else { return }
        lastWords = words
        set(seconds)
    }

    package static func end() {
        if isAllowed { set(0) }
    }

    private static func set(_ seconds: Int) {
        var timer = itimerval()
        timer.it_value.tv_sec = seconds
        setitimer(__itimer_which_t(ITIMER_VIRTUAL.rawValue), &timer, nil)
    }
}
