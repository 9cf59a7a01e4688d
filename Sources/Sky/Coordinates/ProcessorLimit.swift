import Glibc

/// Ends this process when a call of a C library takes more processor time than it can ever need.
///
/// There is no other way out of such a call. In a worker process that costs one attempt. Any other process has not called
/// `allow`, so there is no limit in it.
package enum ProcessorLimit {
    /// The limit in seconds of this process's own processor time, so that a machine that stands still for a while does not end
    /// it.
    private static let seconds = 10

    /// The message at the end. The signal's handler reads it, so it is a constant that is never freed.
    nonisolated(unsafe) private static var lastWords: StaticString = ""
    nonisolated(unsafe) private static var isAllowed = false

    /// Allows the limit; a worker process calls it once before it works.
    package static func allow() {
        isAllowed = true
        signal(SIGVTALRM) { _ in
            let words = ProcessorLimit.lastWords
            // A handler may call only functions that are safe in it (signal-safety(7)).
            _ = write(STDERR_FILENO, words.utf8Start, words.utf8CodeUnitCount)
            _exit(70)
        }
    }

    /// Sets the limit from now on, until `end`.
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
