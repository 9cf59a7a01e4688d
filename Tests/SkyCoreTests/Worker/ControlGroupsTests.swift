import CLinux
import Fixtures
import Foundation
import Glibc
import Testing

@testable import SkyCore

/// A group of the kernel's, at a mount point of its own, marked as systemd marks what it hands over.
private struct MountedGroup: ~Copyable {
    let root: String
    let folder: String

    init(isDelegated: Bool = true) throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("groups-\(UUID())").path
        self.root = root
        folder = root + "/skynode-\(UUID())"
        guard mkdir(root, 0o700) == 0, mount("none", root, "cgroup2", 0, nil) == 0 else {
            let failure = Failure.mount(errno)
            rmdir(root)
            throw failure
        }
        do {
            guard mkdir(folder, 0o755) == 0 else { throw Failure.group(errno) }
            guard !isDelegated || setxattr(folder, "user.delegate", "1", 1, 0) == 0 else {
                throw Failure.mark(errno)
            }
        } catch {
            MountedGroup.takeDown(root, folder)
            throw error
        }
    }

    enum Failure: Error {
        case mount(Int32)
        case group(Int32)
        case mark(Int32)
    }

    deinit { MountedGroup.takeDown(root, folder) }

    /// Ends what a test that failed has left in it, too.
    private static func takeDown(_ root: String, _ folder: String) {
        if access(folder, F_OK) == 0 {
            let whole = ControlGroup(existing: folder)
            whole.kill()
            for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
                // Files are groups' switches, which nobody can remove.
                if !name.contains(".") { ControlGroup(existing: "\(folder)/\(name)").remove() }
            }
            whole.remove()
        }
        umount2(root, Int32(MNT_DETACH))
        rmdir(root)
    }

    /// Of those that are there for version 2, one to try with.
    static let controller: String? = {
        guard let mounted = try? MountedGroup() else { return nil }
        let here = try? String(contentsOfFile: mounted.root + "/cgroup.controllers", encoding: .utf8)
        return here?.split(whereSeparator: \.isWhitespace).first { ["hugetlb", "pids", "memory", "cpu"].contains($0) }
            .map(String.init)
    }()

    /// Has what is there at the top shared out to the group; `false` where it is already.
    func share(_ controller: String) -> Bool {
        let top = ControlGroup(existing: root)
        return !top.shared.contains(controller) && top.write("+\(controller)", to: "cgroup.subtree_control")
    }

    func unshare(_ controller: String) {
        ControlGroup(existing: root).write("-\(controller)", to: "cgroup.subtree_control")
    }

    /// Why there can be none here; `nil` where there can.
    static let obstacle: String? = {
        do {
            _ = try MountedGroup()
            return nil
        } catch {
            return "\(error)"
        }
    }()
}

@Suite(
    .timeLimit(.minutes(5)),
    .enabled(
        if: MountedGroup.obstacle == nil,
        "no control groups of version 2 can be made here: \(MountedGroup.obstacle ?? "")"))
struct ControlGroupsTests {
    /// The group of a process, below that of the test.
    private func group(of process: pid_t) throws -> String {
        let lines = try String(contentsOfFile: "/proc/\(process)/cgroup", encoding: .utf8).split(separator: "\n")
        return String(try #require(lines.first { $0.hasPrefix("0::") }).dropFirst(3))
    }

    /// Starts a shell that writes its process id into a file, in a group if one is given.
    private func start(
        _ command: String, telling file: String, group: ControlGroup? = nil
    ) async throws -> (ChildProcess, pid_t) {
        guard mkfifo(file, 0o600) == 0 else { throw MountedGroup.Failure.group(errno) }
        let process = try await ChildProcess.start(
            "/bin/sh", arguments: ["-c", command], standardError: "/dev/null"
        ) { group }
        // This open succeeds when the shell opens the file too.
        let stream = try #require(fopen(file, "r"))
        defer { fclose(stream) }
        var line = [CChar](repeating: 0, count: 32)
        let number = fgets(&line, Int32(line.count), stream).map { atoi($0) }
        return (process, try #require(number))
    }

    @Test func `the daemon moves into a group below its delegated one`() async throws {
        let mounted = try MountedGroup()
        let scratch = ScratchFolder()
        let file = scratch.file("pid")
        let (process, number) = try await start("echo $$ >\(file); exec sleep 600", telling: file)
        let name = (mounted.folder as NSString).lastPathComponent
        ControlGroup(existing: mounted.folder).add(number)
        let groups = try #require(ControlGroups.takeOver(process: number, root: mounted.root))
        #expect(groups.folder == mounted.folder)
        #expect(try group(of: number) == "/\(name)/daemon")
        process.kill()
        _ = await process.end(within: .seconds(20))
    }

    @Test func `a group that is not delegated is left alone`() async throws {
        let mounted = try MountedGroup(isDelegated: false)
        let scratch = ScratchFolder()
        let file = scratch.file("pid")
        let (process, number) = try await start("echo $$ >\(file); exec sleep 600", telling: file)
        ControlGroup(existing: mounted.folder).add(number)
        let before = try group(of: number)
        #expect(ControlGroups.takeOver(process: number, root: mounted.root) == nil)
        #expect(try group(of: number) == before)
        process.kill()
        _ = await process.end(within: .seconds(20))
    }

    @Test func `processes that a worker started end with it, and its group is removed`() async throws {
        let mounted = try MountedGroup()
        let scratch = ScratchFolder()
        let file = scratch.file("pid")
        let own = try #require(ControlGroup(making: mounted.folder + "/worker-1"))
        // In a session of its own, where a signal to the worker's process group does not reach it. A process is moved just after
        // its start; only what it starts from then on is in its group.
        let (process, number) = try await start(
            "until grep -q worker-1 /proc/$$/cgroup; do :; done; setsid sh -c 'echo $$ >\(file); exec sleep 600' & wait",
            telling: file, group: own)
        #expect(try group(of: number).hasSuffix("/worker-1"))
        process.kill()
        _ = await process.end(within: .seconds(20))
        #expect(access(own.folder, F_OK) != 0)
        #expect((try? group(of: number))?.hasSuffix("/worker-1") != true)
    }

    @Test func `a group with another process in it is not taken over`() async throws {
        let mounted = try MountedGroup()
        let scratch = ScratchFolder()
        let whole = ControlGroup(existing: mounted.folder)
        let (other, otherNumber) = try await start(
            "echo $$ >\(scratch.file("other")); exec sleep 600", telling: scratch.file("other"))
        let (process, number) = try await start(
            "echo $$ >\(scratch.file("pid")); exec sleep 600", telling: scratch.file("pid"))
        whole.add(otherNumber)
        whole.add(number)
        #expect(ControlGroups.takeOver(process: number, root: mounted.root) == nil)
        let name = (mounted.folder as NSString).lastPathComponent
        #expect(try group(of: number) == "/\(name)", "it is back where it was")
        #expect(access(mounted.folder + "/daemon", F_OK) != 0)

        // Nothing is taken over either if a group of that name has a process in it.
        let daemon = try #require(ControlGroup(making: mounted.folder + "/daemon"))
        daemon.add(otherNumber)
        #expect(ControlGroups.takeOver(process: number, root: mounted.root) == nil)
        #expect(try group(of: number) == "/\(name)" && group(of: otherNumber).hasSuffix("/daemon"))
        for process in [other, process] {
            process.kill()
            _ = await process.end(within: .seconds(20))
        }
    }

    @Test func `an existing empty group is used again`() throws {
        let mounted = try MountedGroup()
        let first = try #require(ControlGroup(making: mounted.folder + "/worker-1"))
        #expect(ControlGroup(making: first.folder) != nil)
        var status = stat()
        #expect(stat(first.folder, &status) == 0 && status.st_mode & 0o777 == 0o755, "everybody may look")
        #expect(ControlGroup(making: mounted.folder + "/none/worker-1") == nil)
    }

    /// While something is shared out below a group, the kernel puts no process into it.
    @Test(.enabled(if: MountedGroup.controller != nil, "no controller belongs to version 2 here"))
    func `a service whose worker cannot be killed can be started again`() async throws {
        let controller = try #require(MountedGroup.controller)
        let mounted = try MountedGroup()
        let isOurs = mounted.share(controller)
        defer { if isOurs { mounted.unshare(controller) } }
        let scratch = ScratchFolder()
        let (process, number) = try await start(
            "echo $$ >\(scratch.file("pid")); exec sleep 600", telling: scratch.file("pid"))
        let whole = ControlGroup(existing: mounted.folder)
        whole.add(number)
        let groups = try #require(
            ControlGroups.takeOver(process: number, root: mounted.root, controllers: [controller, "nonsense"]))
        #expect(groups.shared == [controller] && whole.shared == [controller])
        #expect(!whole.add(number), "what systemd does at the next start")
        // Systemd starts the commands that run after the end in this way.
        let control = try #require(ControlGroup(making: mounted.folder + "/.control"))
        let (helper, helperNumber) = try await start(
            "echo $$ >\(scratch.file("helper")); exec sleep 600", telling: scratch.file("helper"))
        control.add(helperNumber)
        ControlGroups.giveBack(process: helperNumber, root: mounted.root)
        #expect(whole.shared.isEmpty && whole.add(number))
        for process in [helper, process] {
            process.kill()
            _ = await process.end(within: .seconds(20))
        }
        control.remove()
        ControlGroup(existing: mounted.folder + "/daemon").remove()
        whole.remove()
    }

    @Test func `a kill for lack of memory is recognised`() throws {
        let scratch = ScratchFolder()
        let folder = scratch.file("group")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let group = ControlGroup(existing: folder)
        #expect(!group.hasRunOutOfMemory, "there is no count where memory belongs to version 1")
        for (kills, isOut) in [(0, false), (1, true), (12, true)] {
            let text = "low 0\nhigh 0\nmax 31\noom 2\noom_kill \(kills)\noom_group_kill 0\n"
            try text.write(toFile: folder + "/memory.events", atomically: false, encoding: .utf8)
            #expect(group.hasRunOutOfMemory == isOut)
        }
    }
}
