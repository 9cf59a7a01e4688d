import Base
import Fixtures
import Glibc
import Testing

@testable import SkyCore

@Suite struct WorkerFolderTests {
    /// Each clears away what others left, and may come upon a folder that is not locked yet.
    @Test func `daemons that start at the same moment leave each other's folders alone`() async throws {
        let scratch = ScratchFolder()
        let base = scratch.path
        let folders = try await withThrowingTaskGroup(of: [WorkerFolder].self) { group in
            for _ in 0..<4 { group.addTask { try (0..<100).map { _ in try WorkerFolder(in: base) } } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let lost = folders.filter { access($0.path("lock"), F_OK) != 0 }
        #expect(lost.isEmpty, "\(lost.count) of \(folders.count) were cleared away while their daemons lived")
        for folder in folders { folder.remove() }
    }

    @Test func `a lock that another daemon holds is not taken`() {
        let scratch = ScratchFolder()
        let file = scratch.file("lock")
        let ours = open(file, O_RDWR | O_CREAT, 0o600)
        let theirs = open(file, O_RDWR)
        defer { [ours, theirs].forEach { close($0) } }
        #expect(flock(theirs, LOCK_EX | LOCK_NB) == 0)
        #expect(!WorkerFolder.takes(ours))
        flock(theirs, LOCK_UN)
        #expect(WorkerFolder.takes(ours))
        unlink(file)
        #expect(!WorkerFolder.takes(ours), "the folder was cleared away before it was locked")
    }

    @Test func `a folder is intact until it, or its lock, is removed or another is in its place`() throws {
        let scratch = ScratchFolder()
        let folder = try WorkerFolder(in: scratch.path)
        let path = folder.path("")
        #expect(folder.isIntact)
        #expect(unlink(folder.path("lock")) == 0)
        #expect(!folder.isIntact)
        close(open(folder.path("lock"), O_WRONLY | O_CREAT, 0o600))
        #expect(!folder.isIntact, "this is another file")
        unlink(folder.path("lock"))
        #expect(rmdir(path) == 0)
        #expect(!folder.isIntact)
        folder.remove()
    }

    @Test func `temporary files go to TMPDIR, or else to the first usual folder that can be used`() throws {
        let usable: (String) -> String? = { ["/mine", "/var/tmp"].contains($0) ? nil : "read-only" }
        #expect(try TemporaryLocation(named: "/mine", objection: usable).path == "/mine")
        #expect(try TemporaryLocation(named: "/mine", objection: usable).objection == nil)
        let other = try TemporaryLocation(named: "/theirs", objection: usable)
        #expect(other.path == "/var/tmp" && other.objection == "/theirs: read-only")
        for named in ["", nil] {
            let usual = try TemporaryLocation(named: named, objection: usable)
            #expect(usual.path == "/var/tmp" && usual.objection == nil)
        }
        let error = #expect(throws: SkyError.self) { try TemporaryLocation(named: "/x", objection: { _ in "full" }) }
        #expect(error?.message.contains("TMPDIR is /x: full; /tmp: full") == true)
    }

    @Test func `a folder that is missing, relative, too long or closed takes no temporary files`() {
        let scratch = ScratchFolder()
        #expect(TemporaryLocation.objection(to: scratch.path) == nil && scratch.names.isEmpty)
        close(open(scratch.file("file"), O_WRONLY | O_CREAT, 0o600))
        for path in ["relative", scratch.file("none"), scratch.file("file"), "/" + String(repeating: "a", count: 70)] {
            #expect(TemporaryLocation.objection(to: path) != nil, "\(path)")
        }
    }

    @Test func `the folder of a killed daemon is removed by the next`() throws {
        let scratch = ScratchFolder()
        // The lock of a process ends with it; here it is none that was ever held.
        let left = scratch.file("skynode-1-aBcDeF")
        #expect(mkdir(left, 0o700) == 0)
        for name in ["lock", "socket", "w1.stderr"] { close(open(left + "/" + name, O_WRONLY | O_CREAT, 0o600)) }
        let folder = try WorkerFolder(in: scratch.path)
        #expect(access(left, F_OK) != 0)
        #expect(access(folder.path("lock"), F_OK) == 0)
        folder.remove()
        #expect(scratch.names.isEmpty)
    }
}
