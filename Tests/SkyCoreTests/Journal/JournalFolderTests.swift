import Foundation
import Testing

@testable import SkyCore

@Suite final class JournalFolderTests {
    private let place = FileManager.default.temporaryDirectory.appendingPathComponent("skycore-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: place) }

    private func file(_ name: String) -> String { place.appendingPathComponent(name).path }

    @Test func `a new folder is accessible to this user only`() throws {
        let path = file("above/data")
        withExtendedLifetime(try JournalFolder(path)) {}
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o700)
    }

    @Test func `a folder that everybody can write to is refused with advice`() throws {
        let path = file("open")
        #expect(mkdir(path, 0o700) == 0 && chmod(path, 0o1777) == 0)
        let error = #expect(throws: JournalError.self) { try JournalFolder(path) }
        #expect(error?.kind == .inaccessible)
        #expect(error?.message.contains("chmod o-w") == true && error?.message.contains("--data") == true)
        // A folder of this user inside it is acceptable.
        withExtendedLifetime(try JournalFolder(path + "/own")) {}
        #expect(chmod(path, 0o700) == 0)
        withExtendedLifetime(try JournalFolder(path)) {}
    }

    @Test func `nothing starts in a folder in which no copies could be kept`() throws {
        let path = file("data")
        withExtendedLifetime(try JournalFolder(path)) {}
        #expect(FileManager.default.createFile(atPath: path + "/copies", contents: nil))
        for _ in 1...2 {
            for open in [{ try JournalFolder(path) }, { try JournalFolder.existing(path).lock }]
                as [() throws -> JournalFolder?]
            {
                let error = #expect(throws: JournalError.self) { try open() }
                #expect(
                    error?.message.contains("/copies is no folder") == true && error?.message.contains("--data") == true
                )
            }
            #expect(unlink(path + "/copies") == 0 && symlink(path + "/elsewhere", path + "/copies") == 0)
        }
        // They may be on another disk.
        #expect(mkdir(path + "/elsewhere", 0o700) == 0)
        withExtendedLifetime(try JournalFolder(path)) {}
        #expect(chmod(path + "/elsewhere", 0o777) == 0)
        #expect(throws: JournalError.self, "another user could put jobs into it") { try JournalFolder(path) }
    }

    /// A first start, and one from a backup, finds no lock.
    @Test func `a look finds in a folder without a lock all that a start finds`() throws {
        let path = file("data")
        func faults() throws -> [Bool] {
            let look = #expect(throws: JournalError.self) { _ = try JournalPlace.folder(path).isInUse() } != nil
            let start = #expect(throws: (any Error).self) { _ = try Journal(in: JournalFolder(path)) } != nil
            try FileManager.default.removeItem(atPath: path)
            return [look, start]
        }
        func make() throws { try #require(mkdir(path, 0o700) == 0) }
        #expect(try JournalPlace.folder(path).isInUse() == false, "there is none")
        try make()
        #expect(try JournalPlace.folder(path).isInUse() == false && access(path + "/lock", F_OK) != 0)
        #expect(chmod(path, 0o777) == 0)
        #expect(try faults() == [true, true])
        for name in ["copies", "lock"] {
            try make()
            #expect(symlink(path + "/nowhere", path + "/" + name) == 0)
            #expect(try faults() == [true, true], "\(name)")
        }
        for name in ["journal.sqlite", "replicas.sqlite"] {
            try make()
            #expect(mkdir(path + "/" + name, 0o700) == 0)
            let look = #expect(throws: JournalError.self) { _ = try JournalPlace.folder(path).isInUse() }
            #expect(look?.message.contains(name) == true)
            #expect(rmdir(path + "/" + name) == 0 && mkfifo(path + "/" + name, 0o600) == 0)
            #expect(throws: JournalError.self) { _ = try JournalPlace.folder(path).isInUse() }
            #expect(unlink(path + "/" + name) == 0)
            #expect(FileManager.default.createFile(atPath: path + "/" + name, contents: Data("text".utf8)))
            #expect(throws: JournalError.self) { _ = try JournalPlace.folder(path).isInUse() }
            try FileManager.default.removeItem(atPath: path)
        }
        #expect(symlink("nowhere", path) == 0)
        #expect(try faults() == [true, true])
    }

    /// A process that is being started has all descriptors until it runs its program, which takes a while on a busy machine.
    @Test func `a released folder is free at once, even if its descriptor is still open elsewhere`() throws {
        let path = file("copied")
        var copy: Int32 = -1
        do {
            let folder = try JournalFolder(path)
            for descriptor in 0..<Int32(1024) where copy < 0 {
                let name = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
                if name == path + "/lock" { copy = dup(descriptor) }
            }
            try #require(copy >= 0)
            #expect(throws: JournalError.self) { try JournalFolder(path) }
            withExtendedLifetime(folder) {}
        }
        withExtendedLifetime(try JournalFolder(path)) {}
        close(copy)
    }

    @Test func `a lock file that is a symbolic link is not followed`() throws {
        let (path, other) = (file("linked"), file("other"))
        #expect(mkdir(path, 0o700) == 0 && symlink(other, path + "/lock") == 0)
        #expect(throws: JournalError.self) { try JournalFolder(path) }
        #expect(access(other, F_OK) != 0, "nothing was made through the link")
    }

    @Test(
        arguments: [
            (500, 500, 0o700, nil), (500, 500, 0o755, nil), (500, 500, 0o775, nil), (0, 500, 0o2775, nil),
            (500, 100, 0o775, "chmod g-w"), (500, 500, 0o707, "chmod o-w"), (0, 100, 0o777, "chmod o-w"),
            (501, 500, 0o700, "chown"), (501, 500, 0o777, "chown"),
        ] as [(uid_t, gid_t, mode_t, String?)])
    func `the owner and the rights of a folder decide whether it is used`(
        owner: uid_t, group: gid_t, mode: mode_t, advice: String?
    ) {
        var status = stat()
        (status.st_uid, status.st_gid, status.st_mode) = (owner, group, mode | S_IFDIR)
        let objection = JournalFolder.objection(to: status, user: 500, group: 500)
        #expect(objection.map { $0.contains(advice ?? "?") } == advice.map { _ in true }, "\(objection ?? "")")
    }

    @Test func `root refuses a folder of another user`() {
        var status = stat()
        (status.st_uid, status.st_gid, status.st_mode) = (500, 500, 0o700 | S_IFDIR)
        #expect(JournalFolder.objection(to: status, user: 0, group: 0) != nil)
    }
}
