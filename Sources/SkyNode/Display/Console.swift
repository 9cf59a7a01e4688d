import Glibc
import SkyCore
import Transport

/// The two streams of a command: results to standard output, words for people to standard error.
enum Console {
    static func output(_ line: String) {
        write(line + "\n", to: STDOUT_FILENO)
    }

    static func error(_ line: String) {
        write(line + "\n", to: STDERR_FILENO)
    }

    /// Text that may hold several lines or terminal codes.
    static func errorText(_ text: String) {
        write(text, to: STDERR_FILENO)
    }

    static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    /// Whether standard error goes to journald: it is the socket that systemd says it made (systemd.exec(5)).
    static func errorIsJournal(_ environment: [String: String]) -> Bool {
        var status = stat()
        guard let stream = environment["JOURNAL_STREAM"], fstat(STDERR_FILENO, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }

    static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Draws a page over the last one: to the upper left, each line cleared behind its end, the rest of the screen cleared
    /// (ECMA-48: CUP, EL, ED). Lines that do not fit are left out.
    static func screen(_ lines: [String]) {
        let size = terminalSize(of: STDOUT_FILENO)
        let fitting = lines.prefix(max(1, size.rows - 1)).map { $0.prefix(size.columns) + "\u{1B}[K\n" }
        write("\u{1B}[H" + fitting.joined() + "\u{1B}[J", to: STDOUT_FILENO)
    }

    /// The terminal's size, 80 by 24 where it does not say; asked anew each time, since a window is resized at will.
    static var screen: (columns: Int, rows: Int) { terminalSize(of: STDERR_FILENO) }

    private static func terminalSize(of descriptor: Int32) -> (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), max(2, Int(size.ws_row)))
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes = bytes.dropFirst(count)
            } else if errno == EAGAIN {
                var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&poller, 1, 1000)
            } else if errno != EINTR {
                // The reader is gone; a broken pipe is no failure of the command.
                return
            }
        }
    }
}
