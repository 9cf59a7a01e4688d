import Base
import Fixtures
import Foundation
import Testing
import Transport

@testable import SkyCore

/// What is in the folder of copies, of this program and of anybody else.
@Suite(.timeLimit(.minutes(1))) struct CopiesFolderTests {
    private final class Bench {
        let data = ScratchFolder()
        let copies: CopiesFolder
        let coordinator = CoordinatorID(rawValue: 0x1f)

        init() { copies = CopiesFolder(in: data.path) }

        deinit { for name in data.names { try? FileManager.default.removeItem(atPath: data.file(name)) } }

        func make(_ files: String...) {
            for file in files {
                let path = data.file(file)
                let folder = (path as NSString).deletingLastPathComponent
                try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                data.put("precious", in: file)
            }
        }

        func isThere(_ file: String) -> Bool { FileManager.default.fileExists(atPath: data.file(file)) }

        var names: [String] { ScratchFolder.names(in: copies.path) }
    }

    @Test func `a node that is started removes nothing of anybody else from its data folder`() async throws {
        let bench = Bench()
        let theirs = [
            "copies/2024/raw/m31.fits", "copies/feed/list.txt", "copies/ABCDEF0123456789/list.txt", "copies/new/a.txt",
            "copies/00000000000000ac/m31.fits", "copies/00000000000000ad/raw/m31.fits", "copies/damaged/a.txt",
            "copies/damaged.sqlite", "copies/damaged-0123/a.txt", "copies/new-0123456789abcdef/a.txt",
            "inputs/video.mp4.partial", "inputs/" + String(repeating: "ab", count: 32),
        ]
        for file in theirs { bench.make(file) }
        // These were begun and not finished.
        bench.make("copies/00000000000000aa/lock", "copies/00000000000000ab/next.sqlite")
        bench.make("copies/new-0123456789abcdee/lock", "copies/new-0123456789abcdee/reserve")
        bench.make("inputs/0123456789abcdef.partial")
        var old = utimbuf(actime: 0, modtime: 0)
        utime(bench.data.file(theirs.last ?? ""), &old)
        let node = try Node(
            NodesInProcess.settings("node1", slots: 1, join: []), journal: Journal(in: JournalFolder(bench.data.path)))
        try await node.start()
        let running = Task { await node.run() }
        running.cancel()
        await running.value
        for file in theirs { #expect(bench.isThere(file), "\(file)") }
        let left = bench.names.filter { !theirs.joined().contains($0) && $0 != JournalBallast.name }
        #expect(left.isEmpty, "\(left)")
        #expect(!bench.isThere("inputs/0123456789abcdef.partial"))
    }

    @Test func `where the folder of copies cannot be used, the node that wants one hears the reason`() async throws {
        let bench = Bench()
        try await withThrowingTaskGroup(of: Void.self) { group in
            var nodes: [Node] = []
            for name in ["node1", "node2"] {
                let settings = NodesInProcess.settings(
                    name, slots: 1, join: nodes.compactMap(\.system.listeningAddress))
                let journal = try Journal(in: JournalFolder(bench.data.file(name)))
                // Nothing starts where it is so from the beginning.
                if name == "node2" { bench.make("node2/copies") }
                let node = try Node(settings, journal: journal)
                try await node.start()
                nodes.append(node)
                group.addTask { await node.run() }
            }
            let keeper = try #require(nodes[0].copies?.keeper)
            let own = try #require(await nodes[0].coordinator.whenLocal { $0.journal.incarnation.coordinator })
            let replica = try #require(await keeper.replica(of: own))
            var (seen, copy) = (0, CopyState?.none)
            while copy?.isFull != true {
                seen = await replica.reports(after: seen)
                copy = keeper.report(of: replica)?.copies.first
            }
            let reason = copy?.reason ?? "none"
            let folder = bench.data.file("node2/copies/")
            #expect(copy?.node == "node2" && reason.contains(folder) && reason.contains("Not a directory"), "\(reason)")
            // One beside the own one takes no room of its own that is kept free.
            let beside = try await keeper.beginSpare { _ in }
            let files = FolderEntry.all(in: bench.data.file("node1/copies/\(beside.coordinator)"))?.map(\.text) ?? []
            #expect(files.contains("journal.sqlite") && !files.contains(JournalBallast.name), "\(files)")
            let spare = await #expect(throws: JournalError.self) {
                try await nodes[1].copies?.keeper.beginSpare { _ in }
            }
            #expect(spare?.message.hasSuffix("node2/copies is no folder that this node can use") == true)
            group.cancelAll()
        }
    }

    @Test func `one damaged copy is kept, and never instead of a file of somebody else`() throws {
        let bench = Bench()
        let theirs = ["copies/damaged.sqlite", "copies/damaged-cafe.sqlite", "copies/damaged-0123456789abcdef.txt"]
        for file in theirs { bench.make(file) }
        let copy = "copies/\(bench.coordinator)"
        for _ in 0..<3 {
            bench.make(copy + "/journal.sqlite", copy + "/journal.sqlite-wal")
            try bench.copies.setAside(filesIn: bench.data.file(copy))
            let kept = bench.names.filter { !theirs.contains("copies/" + $0) && $0.hasPrefix("damaged-") }
            #expect(kept.count == 2 && !bench.isThere(copy + "/journal.sqlite"), "\(bench.names)")
        }
        for file in theirs { #expect(bench.isThere(file), "\(file)") }
    }

    @Test func `one folder that could not be used is kept, and each that holds something of somebody else`() throws {
        let bench = Bench()
        let copy = "copies/\(bench.coordinator)"
        for _ in 0..<2 {
            bench.make(copy + "/notes/journal.sqlite")
            try bench.copies.setAside(bench.data.file(copy))
        }
        for _ in 0..<3 {
            bench.make(copy + "/journal.sqlite")
            try bench.copies.setAside(bench.data.file(copy))
        }
        #expect(bench.names.count == 3, "\(bench.names)")
    }

    @Test func `a copy is removed with its files, and stays where anything else is with them`() throws {
        let bench = Bench()
        let copy = "copies/\(bench.coordinator)"
        bench.make(copy + "/journal.sqlite", copy + "/journal.sqlite-shm", copy + "/lock", copy + "/next.sqlite-wal")
        #expect(bench.copies.remove(bench.coordinator) && bench.names.isEmpty)
        #expect(bench.copies.remove(bench.coordinator), "there is none")
        bench.make(copy + "/journal.sqlite", copy + "/m31.fits")
        #expect(!bench.copies.remove(bench.coordinator))
        #expect(bench.isThere(copy + "/journal.sqlite") && bench.isThere(copy + "/m31.fits"))
        unlink(bench.data.file(copy + "/m31.fits"))
        symlink("/etc", bench.data.file(copy + "/lock"))
        #expect(!bench.copies.remove(bench.coordinator), "no file of this program is a link")
    }
}
