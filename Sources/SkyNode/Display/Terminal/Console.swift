import Foundation
import Glibc
import NIOConcurrencyHelpers
import SkyCore
import Transport

/// The two streams of a command: results to standard output, words for people to standard error.
///
/// A failure to write to standard output is reported once, on standard error, and gives the command exit code 2. Nothing is written
/// after it, so that the bytes written are the beginning of the output, without a hole.
enum Console {
    /// Why nothing can be written to standard output any more.
    private enum Loss {
        /// The reader has gone away, which is not a failure: `skynode nodes | head -1`.
        case readerGone
        /// Writing failed, as on a full disk.
        case failed
    }

    private static let loss = NIOLockedValueBox<Loss?>(nil)

    /// How text to standard output and to standard error looks; decided here, once for the process.
    static let outputStyle = style(of: STDOUT_FILENO)
    static let errorStyle = style(of: STDERR_FILENO)

    private static func style(of descriptor: Int32) -> TextStyle {
        let choice = ColourChoice(arguments: CommandLine.arguments)
        return TextStyle(
            isColoured: choice.isOn(
                terminal: isatty(descriptor) == 1, environment: ProcessInfo.processInfo.environment))
    }

    /// Whether there is nobody to write to any more. Work that is only done for a reader can end then.
    static var isOutputLost: Bool { loss.withLockedValue { $0 != nil } }

    static func output(_ line: String) {
        output(bytes: Array((line + "\n").utf8))
    }

    /// Writes a line on which nothing depends, as of a service: where standard output is closed, that is no failure of the command.
    static func remark(_ line: String) {
        loss.withLockedValue { loss in
            guard loss == nil else { return }
            _ = write(Array((line + "\n").utf8), to: STDOUT_FILENO)
        }
    }

    /// Writes whole files, such as a catalogue.
    static func output(bytes: [UInt8]) {
        // The lock is held while the bytes are written, so that lines of several tasks do not mix and only one of them fails.
        loss.withLockedValue { loss in
            guard loss == nil, let code = write(bytes, to: STDOUT_FILENO) else { return }
            loss = note(code)
        }
    }

    /// Closes standard output, because some file systems say only then that the disk is full (close(2)), and gives the
    /// exit code that goes with it.
    static func closeOutput(_ status: Int32) -> Int32 {
        loss.withLockedValue { loss in
            if loss == nil, close(STDOUT_FILENO) != 0, errno != EINTR { loss = note(errno) }
            return loss == .failed ? max(status, ExitStatus.usage.rawValue) : status
        }
    }

    /// Opens standard streams that are missing. Without them the next files and sockets that are opened would get their numbers,
    /// and the output.
    static func openMissingStreams() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
            // The lowest free number is taken, which is this one. Writing to it fails, as it would have before.
            _ = open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    private static func note(_ code: Int32) -> Loss {
        guard code != EPIPE else { return .readerGone }
        failure("cannot write to standard output: \(String(cString: strerror(code)))")
        return .failed
    }

    static func error(_ line: String) {
        errorText(errorStyle.label(line) + "\n")
    }

    /// Says what went wrong.
    static func failure(_ message: String) {
        errorText(errorStyle.failure(message) + "\n")
    }

    /// Writes text that may hold several lines or terminal codes.
    static func errorText(_ text: String) {
        _ = write(Array(text.utf8), to: STDERR_FILENO)
    }

    static var errorIsTerminal: Bool { isatty(STDERR_FILENO) == 1 }
    /// Whether standard error goes to journald: it is the socket that systemd says it made (systemd.exec(5)).
    static func errorIsJournal(_ environment: [String: String]) -> Bool {
        var status = stat()
        guard let stream = environment["JOURNAL_STREAM"], fstat(STDERR_FILENO, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }

    static var outputIsTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Columns of the terminal that standard output goes to; `nil` where it goes elsewhere.
    static var outputColumns: Int? { outputIsTerminal ? terminalSize(of: STDOUT_FILENO).columns : nil }

    /// Draws a page over the last one.
    static func screen(_ lines: [String]) {
        let size = terminalSize(of: STDOUT_FILENO)
        output(bytes: Array(ScreenPage(lines, columns: size.columns, rows: size.rows).text.utf8))
    }

    /// The terminal's size, 80 by 24 where it does not say; asked anew each time, since a window is resized at will.
    static var screen: (columns: Int, rows: Int) { terminalSize(of: STDERR_FILENO) }

    private static func terminalSize(of descriptor: Int32) -> (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return (80, 24) }
        return (Int(size.ws_col), max(2, Int(size.ws_row)))
    }

    /// - Returns: why not all of it was written; `nil` where it was.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&poller, 1, 1000)
            } else if errno != EINTR {
                return count < 0 ? errno : EIO
            }
        }
        return nil
    }
}
