import Foundation
import Testing

/// Programs that may have less than they need.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3)))) struct LimitTests {
    @Test(
        arguments: ["-n 4", "-n 6", "-n 12", "-n 20", "-v 200000", "-v 350000"],
        ["serve --listen 127.0.0.1:0", "scan --alone", "jobs --node 127.0.0.1:1 --reconnect-for 1s"])
    func `a limit that is too low is named, with what is needed`(limit: String, command: String) async throws {
        let folder = try ScratchFolder()
        let file = command.hasPrefix("scan") ? " '\(folder.file("none.fits"))'" : ""
        let ended = try await Skynode.shell("ulimit \(limit) && cd '\(folder.path)' && \"$0\" \(command)\(file)")
        #expect(ended.status == 2 && ended.output.isEmpty)
        let option = String(limit.prefix(2))
        #expect(
            ended.errors.count == 1 && ended.errors[0].hasPrefix("skynode: only ")
                && ended.errors[0].contains("needed: ulimit \(option) "), "\(ended.errors)")
    }

    @Test(
        arguments: [1, 4, 12],
        [
            "version", "serve --listen 127.0.0.1:0", "scan --alone none.fits",
            "jobs --node 127.0.0.1:1 --reconnect-for 1s",
        ])
    func `too few threads are said, with what is needed`(limit: Int, command: String) async throws {
        let folder = try ScratchFolder()
        let ended = try await Skynode.shell(
            "cd '\(folder.path)' && \(limited(to: limit, in: folder)) \"$0\" \(command)")
        #expect(ended.status == 2 && ended.output.isEmpty)
        #expect(
            ended.errors.count == 1 && ended.errors[0].hasPrefix("skynode: only ")
                && ended.errors[0].contains(" threads can be started now, and "), "\(ended.errors)")
    }

    @Test(.enabled(if: geteuid() == 0, "skipped: only root can be a user without other processes"))
    func `a node whose workers get no threads goes on`() async throws {
        let folder = try ScratchFolder()
        let threads = 22 + 5 * ProcessInfo.processInfo.activeProcessorCount
        let end = try await Skynode.shell(
            """
            cd '\(folder.path)' && "$0" synthesize a.fits --width 300 --height 200 && chown 4711 . || exit
            \(limited(to: threads, in: folder)) "$0" serve --data d --name a --slots 4 --listen 127.0.0.1:0 > log 2>&1 & node=$!
            while kill -0 $node && ! { port=$(sed -n 's/.*listening.*127.0.0.1:\\([0-9]*\\).*/\\1/p' log) && test -n "$port"; }; do sleep 0.1; done
            grep -q SGLTN-TP /proc/$node/task/*/comm || echo "threads are missing" >&2
            \(limited(to: 10_000, in: folder)) "$0" scan a.fits --sector 64 --node 127.0.0.1:$port --no-picture -o out
            \(limited(to: 10_000, in: folder)) "$0" nodes --node 127.0.0.1:$port; said=$?; kill $node; wait $node || exit; exit $said
            """)
        #expect(end.status == 0, "\(end)")
        // What is not started at first is not to be had when workers have taken the threads, and NIO traps.
        #expect(!end.errors.contains("threads are missing"))
        #expect(end.errors.contains { $0.contains("cannot start a worker process") }, "\(end)")
    }

    /// A prefix that limits the threads of a command, as an ordinary user: the limit does not count for root.
    private func limited(to threads: Int, in folder: ScratchFolder) -> String {
        guard geteuid() == 0 else { return "prlimit --nproc=\(threads)" }
        return "env HOME='\(folder.path)' prlimit --nproc=\(threads) setpriv --reuid 4711 --regid 4711 --clear-groups "
            + "--inh-caps +dac_override --ambient-caps +dac_override"
    }

    @Test(arguments: [64, 1000]) func `a small stack is enough`(kilobytes: Int) async throws {
        let folder = try ScratchFolder()
        let ended = try await Skynode.shell(
            """
            cd '\(folder.path)' && "$0" synthesize a.fits --width 300 --height 200 && ulimit -s \(kilobytes) &&
            "$0" scan --alone a.fits --no-picture -o out
            """)
        #expect(ended.status == 0, "\(ended.errors)")
    }

    @Test func `a limit of open files is raised where that is allowed`() async throws {
        let ended = try await Skynode.shell("ulimit -S -n 12 && \"$0\" jobs --node 127.0.0.1:1 --reconnect-for 1s")
        #expect(ended.status == 3, "\(ended.errors)")
    }

    @Test(arguments: ["-n 8", "-v 350000"])
    func `a limit that is too low for work is enough for the version`(limit: String) async throws {
        let ended = try await Skynode.shell("ulimit \(limit) && \"$0\" version")
        #expect(ended.status == 0, "\(ended.errors)")
    }
}
