import Base
import Fixtures
import Foundation
import Glibc
import Testing

@testable import Sky
@testable import SkyCore

/// Ten thousand processes take half a minute, and ten where other programs keep every core busy.
@Suite(.timeLimit(.minutes(15))) struct ChildProcessTests {
    private func shell(_ command: String, _ folder: borrowing ScratchFolder) async throws -> ChildProcess {
        try await ChildProcess.start(
            "/bin/sh", arguments: ["-c", command], standardError: folder.file("stderr"))
    }

    /// Foundation's Process loses some of these.
    @Test func `of ten thousand processes every end is noticed and every one is reaped`() async throws {
        let children = 10_000
        let ended = try await withThrowingTaskGroup(of: String.self) { group in
            var (started, ended) = (0, 0)
            while ended < children {
                while started < children, started - ended < 16 {
                    started += 1
                    group.addTask {
                        let process = try await ChildProcess.start(
                            "/bin/true", arguments: [], standardError: "/dev/null")
                        return await process.end(within: .seconds(60))
                    }
                }
                guard try await group.next() == "ended" else { break }
                ended += 1
            }
            return ended
        }
        #expect(ended == children)
        #expect(zombies() == 0)
    }

    @Test func `the way in which a process ended is reported`() async throws {
        let folder = ScratchFolder()
        #expect(try await shell("exit 3", folder).end(within: .seconds(20)) == "ended with exit code 3")
        let killed = try await shell("kill -SEGV $$", folder)
        #expect(await killed.end(within: .seconds(20)) == "was killed by signal 11 (Segmentation fault)")
        let stubborn = try await shell("trap '' TERM INT; while :; do sleep 60; done", folder)
        #expect(await stubborn.end(within: .milliseconds(1)) == "was killed because it did not stop")
        #expect(!stubborn.isRunning)
    }

    @Test func `a process that does not end after a kill is not waited for`() async throws {
        let process = try await ChildProcess.start(
            "/bin/sleep", arguments: ["600"], standardError: "/dev/null",
            // As with one that waits for a disk: the signal has no effect before that answers.
            signal: { _, _ in })
        #expect(await process.end(within: .zero) == ChildProcess.unkillable)
        #expect(process.isRunning)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await process.end(within: .zero)
        }
        #expect(await cancelled.value != ChildProcess.unkillable, "a cancelled caller has not waited")
        kill(-process.identifier, SIGKILL)
        #expect(await process.hasEnded(within: .seconds(60)) && !process.isRunning)
    }

    @Test func `the children of a process are killed with it`() async throws {
        let folder = ScratchFolder()
        let process = try await shell("sleep 600 & echo $! >&2; wait", folder)
        var child: pid_t = 0
        while child == 0 {
            let text = try? String(contentsOfFile: folder.file("stderr"), encoding: .utf8)
            child = text.flatMap { $0.hasSuffix("\n") ? pid_t($0.dropLast()) : nil } ?? 0
            await Task.yield()
        }
        process.kill()
        _ = await process.end(within: .seconds(20))
        // It is nobody's child now, and gone as soon as the system's first process has noticed.
        while kill(child, 0) == 0, state(of: child) != "Z" { await Task.yield() }
    }

    @Test func `a child process inherits no open file`() async throws {
        let folder = ScratchFolder()
        let open = Glibc.open("/dev/null", O_RDONLY)
        defer { close(open) }
        let process = try await shell("ls /proc/self/fd >&2", folder)
        #expect(await process.end(within: .seconds(20)) == "ended")
        let files = try String(contentsOfFile: folder.file("stderr"), encoding: .utf8).split(separator: "\n")
        #expect(files == ["0", "1", "2", "3"], "the last is the folder that is listed")
    }

    @Test func `a missing program is an error`() async throws {
        await #expect(throws: SkyError.self) {
            _ = try await ChildProcess.start("/nonexistent/program", arguments: [], standardError: "/dev/null")
        }
    }

    /// Children of `true` that have ended and that nobody has asked after.
    private func zombies() -> Int {
        let processes = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return processes.compactMap { pid_t($0) }.count { pid in
            guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return false }
            return text.contains("(true) Z \(getpid()) ")
        }
    }

    private func state(of pid: pid_t) -> Substring? {
        (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8))?.split(separator: " ").dropFirst(2).first
    }
}
