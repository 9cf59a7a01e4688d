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
        guard mkdir(root, 0o700) == 0, MountedGroup.mount("none", root, "cgroup2", 0, nil) == 0 else {
            let failure = Failure.mount(errno)
            rmdir(root)
            throw failure
        }
        do {
            guard mkdir(folder, 0o755) == 0 else { throw Failure.group(errno) }
            guard !isDelegated || MountedGroup.setAttribute(folder, "user.delegate", "1", 1, 0) == 0 else {
                throw Failure.mark(errno)
            }
        } catch {
            MountedGroup.takeDown(root, folder)
            throw error
        }
    }

    // Calls of Linux that Swift's module map of glibc does not show.
    private typealias Text = UnsafePointer<CChar>
    private static let mount = unsafeBitCast(
        dlsym(nil, "mount"),
        to: (@convention(c) (Text, Text, Text, UInt, UnsafeRawPointer?) -> Int32).self)
    private static let unmount = unsafeBitCast(dlsym(nil, "umount2"), to: (@convention(c) (Text, Int32) -> Int32).self)
    private static let setAttribute = unsafeBitCast(
        dlsym(nil, "setxattr"), to: (@convention(c) (Text, Text, Text, Int, Int32) -> Int32).self)
    /// MNT_DETACH of sys/mount.h.
    private static let detach: Int32 = 2

    enum Failure: Error {
        case mount(Int32)
        case group(Int32)
        case mark(Int32)
    }

    deinit { MountedGroup.takeDown(root, folder) }

    /// Ends what a test that failed has left in it, too.
    private static func takeDown(_ root: String, _ folder: String) {
        if access(folder, F_OK) == 0, let whole = ControlGroup(folder: folder) {
            whole.kill()
            for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
                // Files are groups' switches, which nobody can remove.
                if !name.contains(".") { ControlGroup(folder: "\(folder)/\(name)")?.remove() }
            }
            whole.remove()
        }
        _ = unmount(root, detach)
        rmdir(root)
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
    .timeLimit(.minutes(1)),
    .enabled(
        if: MountedGroup.obstacle == nil,
        "no control groups of version 2 can be made here: \(MountedGroup.obstacle ?? "")"))
struct ControlGroupsTests {
    /// The group of a process, below that of the test.
    private func group(of process: pid_t) throws -> String {
        let lines = try String(contentsOfFile: "/proc/\(process)/cgroup", encoding: .utf8).split(separator: "\n")
        return String(try #require(lines.first { $0.hasPrefix("0::") }).dropFirst(3))
    }

    /// Starts a shell that tells its own number in a file, in a group where there is one.
    private func start(
        _ command: String, telling file: String, group: ControlGroup? = nil
    ) async throws -> (ChildProcess, pid_t) {
        guard mkfifo(file, 0o600) == 0 else { throw MountedGroup.Failure.group(errno) }
        let process = try await ChildProcess.start(
            "/bin/sh", arguments: ["-c", command], standardError: "/dev/null", group: group)
        // Opens when the shell opens it, too.
        let stream = try #require(fopen(file, "r"))
        defer { fclose(stream) }
        var line = [CChar](repeating: 0, count: 32)
        let number = fgets(&line, Int32(line.count), stream).map { atoi($0) }
        return (process, try #require(number))
    }

    @Test func `the daemon moves into a group below what it was given`() async throws {
        let mounted = try MountedGroup()
        let scratch = ScratchFolder()
        let file = scratch.file("pid")
        let (process, number) = try await start("echo $$ >\(file); exec sleep 600", telling: file)
        let name = (mounted.folder as NSString).lastPathComponent
        try #require(ControlGroup(folder: mounted.folder)).add(number)
        let groups = try #require(ControlGroups.takeOver(process: number, root: mounted.root))
        #expect(groups.folder == mounted.folder)
        #expect(try group(of: number) == "/\(name)/daemon")
        process.kill()
        _ = await process.end(within: .seconds(20))
    }

    @Test func `a group that is not its own is left alone`() async throws {
        let mounted = try MountedGroup(isDelegated: false)
        let scratch = ScratchFolder()
        let file = scratch.file("pid")
        let (process, number) = try await start("echo $$ >\(file); exec sleep 600", telling: file)
        try #require(ControlGroup(folder: mounted.folder)).add(number)
        let before = try group(of: number)
        #expect(ControlGroups.takeOver(process: number, root: mounted.root) == nil)
        #expect(try group(of: number) == before)
        process.kill()
        _ = await process.end(within: .seconds(20))
    }

    @Test func `what a worker has started ends with it, and its group goes`() async throws {
        let mounted = try MountedGroup()
        let scratch = ScratchFolder()
        let file = scratch.file("pid")
        let own = try #require(ControlGroup(folder: mounted.folder + "/worker-1"))
        // In a session of its own, where a signal to the worker's process group does not reach it.
        let (process, number) = try await start(
            "setsid sh -c 'echo $$ >\(file); exec sleep 600' & wait", telling: file, group: own)
        #expect(try group(of: number).hasSuffix("/worker-1"))
        process.kill()
        _ = await process.end(within: .seconds(20))
        #expect(access(own.folder, F_OK) != 0)
        #expect((try? group(of: number))?.hasSuffix("/worker-1") != true)
    }
}
