import Fixtures
import Foundation
import Testing
import Transport

@testable import SkyCore

/// The files of a data folder that others could read, and what else may be in the places of its files.
@Suite(.timeLimit(.minutes(1))) struct DatabaseFileTests {
    private func open(_ folder: borrowing ScratchFolder) -> [String] {
        (FileManager.default.enumerator(atPath: folder.path)?.allObjects ?? []).compactMap { $0 as? String }
            .filter { name in
                var status = stat()
                return lstat(folder.file(name), &status) == 0 && status.st_mode & S_IFMT == S_IFREG
                    && status.st_mode & 0o077 != 0
            }
    }

    @Test func `nobody else can read what a node keeps, in whatever folder, and whatever was the mode before`()
        async throws
    {
        let folder = ScratchFolder()
        chmod(folder.path, 0o755)
        let digest = String(repeating: "ab", count: 32)
        for _ in 0..<2 {
            let node = try Node(
                NodesInProcess.settings("node1", slots: 1, join: []), journal: Journal(in: JournalFolder(folder.path)))
            try await node.start()
            #expect(open(folder) == [])
            let running = Task { await node.run() }
            running.cancel()
            await running.value
            #expect(open(folder) == [])
            // As an earlier version has left them.
            for name in [
                "journal.aside-0123456789abcdef.sqlite", "copies/damaged.sqlite", "inputs/" + digest,
                "copies/000000000000001f/journal.sqlite",
            ] {
                try FileManager.default.createDirectory(
                    atPath: (folder.file(name) as NSString).deletingLastPathComponent, withIntermediateDirectories: true
                )
                folder.put("secret", in: name)
                chmod(folder.file(name), 0o644)
            }
            for name in ["journal.sqlite", "replicas.sqlite"] { chmod(folder.file(name), 0o666) }
        }
        for name in folder.names { try? FileManager.default.removeItem(atPath: folder.file(name)) }
    }

    @Test func `a FIFO in the place of the reserve is left alone, and nobody waits for it`() {
        let folder = ScratchFolder()
        mkfifo(folder.file("reserve"), 0o600)
        let ballast = JournalBallast(folder: folder.path)
        ballast.reserve()
        #expect(!ballast.isReserved && !ballast.release() && folder.names == ["reserve"])
    }
}
