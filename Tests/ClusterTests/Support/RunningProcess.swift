import Dispatch
import Glibc
import NIOConcurrencyHelpers
import Testing

/// A process under test: its lines as they come, its end, and whether it is gone.
final class RunningProcess: Sendable {
    let pid: pid_t
    private let arguments: [String]
    /// Lines of standard output as they come.
    let lines: AsyncStream<String>
    private let collected = NIOLockedValueBox<(output: [String], errors: [String], isEnded: Bool)>(([], [], false))
    private let ended: AsyncStream<Int32>
    /// Signals that standard error has another line or has ended.
    private let errorsChanged: AsyncStream<Void>
    /// Where its standard input comes from; -1 for nowhere.
    private let input: Int32

    /// - Parameter takesInput: whether `write` is to reach it.
    init(_ path: String, _ arguments: [String], takesInput: Bool = false) throws {
        var outputPipe: [Int32] = [0, 0]
        var errorPipe: [Int32] = [0, 0]
        var inputPipe: [Int32] = [-1, -1]
        // Sockets, because they can be made close-on-exec in one step: a copy that another test's process inherited
        // would keep the reader waiting for its end.
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &outputPipe) == 0, socketpair(AF_UNIX, kind, 0, &errorPipe) == 0 else {
            throw SpawnFailure(reason: String(cString: strerror(errno)))
        }
        guard !takesInput || socketpair(AF_UNIX, kind, 0, &inputPipe) == 0 else {
            throw SpawnFailure(reason: String(cString: strerror(errno)))
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if takesInput {
            posix_spawn_file_actions_adddup2(&actions, inputPipe[0], 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, outputPipe[1], 1)
        posix_spawn_file_actions_adddup2(&actions, errorPipe[1], 2)
        // The process gets its signals as from a terminal: tests in the background of a shell ignore some, and so would the
        // process.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
        let argv = ([path] + arguments).map { strdup($0) } + [nil]
        defer { for pointer in argv { free(pointer) } }
        var pid: pid_t = 0
        let status = posix_spawn(&pid, path, &actions, &attributes, argv, environ)
        close(outputPipe[1])
        close(errorPipe[1])
        if takesInput { close(inputPipe[0]) }
        input = inputPipe[1]
        guard status == 0 else { throw SpawnFailure(reason: "\(path): \(String(cString: strerror(status)))") }
        self.pid = pid
        self.arguments = arguments

        let (lines, lineContinuation) = AsyncStream.makeStream(of: String.self)
        let (ended, endContinuation) = AsyncStream.makeStream(of: Int32.self)
        // However many lines come before the reader looks, it has to look once.
        let (changes, changeContinuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.lines = lines
        self.ended = ended
        errorsChanged = changes
        let (output, errors) = (outputPipe[0], errorPipe[0])
        // Reading and waiting block, so each has a thread of its own; all end with the process.
        let errorsRead = DispatchSemaphore(value: 0)
        RunningProcess.thread { [self] in
            RunningProcess.read(errors) { line in
                collected.withLockedValue { $0.errors.append(line) }
                changeContinuation.yield()
            }
            errorsRead.signal()
        }
        let child = pid
        RunningProcess.thread { [self] in
            RunningProcess.read(output) { line in
                collected.withLockedValue { $0.output.append(line) }
                lineContinuation.yield(line)
            }
            lineContinuation.finish()
            errorsRead.wait()
            collected.withLockedValue { $0.isEnded = true }
            changeContinuation.yield()
            changeContinuation.finish()
            var status: Int32 = 0
            while waitpid(child, &status, 0) == -1, errno == EINTR {}
            let signal = status & 0x7f
            endContinuation.yield(signal == 0 ? (status >> 8) & 0xff : -signal)
            endContinuation.finish()
        }
    }

    deinit {
        if input >= 0 { close(input) }
    }

    /// Gives it a line on standard input. A process that has ended is known by its output.
    func write(_ line: String) {
        _ = Array((line + "\n").utf8).withUnsafeBytes {
            Glibc.send(input, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
    }

    func send(_ signal: Int32) { kill(pid, signal) }

    /// Lines of standard error until now.
    var errorsSoFar: [String] { collected.withLockedValue { $0.errors } }

    /// Waits until its standard error is as expected, or at its end.
    func untilErrors(_ isExpected: ([String]) -> Bool) async throws {
        while !isExpected(errorsSoFar) {
            try Task.checkCancellation()
            guard !isEnded else { throw SpawnFailure(reason: "it has ended: \(errorsSoFar.suffix(3))") }
            // Another thread reads the lines, and nobody can tell which of them will be the expected one.
            for await _ in errorsChanged { break }
        }
    }

    private var isEnded: Bool { collected.withLockedValue { $0.isEnded } }

    /// Longest time a process under test may take to end once it is waited for.
    static let patience = Duration.seconds(Skynode.isSanitized ? 600 : 60)

    /// Waits for the end. A process that hangs is killed, and is a failure of the test.
    func end() async -> Ended {
        let watchdog = Task { [pid] in
            try await Task.sleep(for: RunningProcess.patience)
            Issue.record("process \(pid) did not end by itself: \(arguments)")
            kill(pid, SIGKILL)
        }
        var status: Int32 = -1
        for await value in ended { status = value }
        watchdog.cancel()
        return collected.withLockedValue { Ended(status: status, output: $0.output, errors: $0.errors) }
    }

    private static func thread(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let box = Unmanaged.passRetained(ThreadBody(run: body))
        pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, box.toOpaque())
        pthread_detach(thread)
    }

    private static func read(_ descriptor: Int32, _ line: (String) -> Void) {
        var pending: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            pending += buffer[..<count]
            while let end = pending.firstIndex(of: 10) {
                line(String(decoding: pending[..<end], as: UTF8.self))
                pending.removeFirst(end + 1)
            }
        }
        if !pending.isEmpty { line(String(decoding: pending, as: UTF8.self)) }
        close(descriptor)
    }
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

struct SpawnFailure: Error {
    var reason: String
}
