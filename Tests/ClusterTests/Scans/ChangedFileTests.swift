import Foundation
import Glibc
import Testing

/// An image that somebody writes over while it is scanned: the catalogue is of one image, or there is none.
@Suite(.timeLimit(.minutes(Skynode.minutes(4)))) struct ChangedFileTests {
    @Test(arguments: [[], ["--no-cache"]], [false, true])
    func `a scan of an image that is rewritten in place ends with its name, never with a mixture`(
        options: [String], restoresTime: Bool
    ) async throws {
        let folder = try ScratchFolder()
        let image = folder.file("sky.fits")
        let made = try await Skynode.run("synthesize", image, "--width", "2048", "--height", "2048", "--seed", "1")
        let other = try await Skynode.run(
            "synthesize", folder.file("other.fits"), "--width", "2048", "--height", "2048", "--seed", "2")
        #expect(made.status == 0 && other.status == 0)
        let scan = ["--sector", "128", "--no-picture", "--format", "json"] + options
        try await RunningCluster.with(2, slots: 1) { cluster in
            // The catalogue of the old image, by a job of its own that leaves nothing for later ones.
            let whole = try await Skynode.run(
                ["scan", image, "--node", cluster.addresses[1], "-o", folder.file("old"), "--no-cache"] + scan)
            #expect(whole.status == 0)
            let process = try RunningProcess(
                Skynode.path, ["scan", image, "--node", cluster.addresses[0], "-o", folder.file("new")] + scan)
            var completed = 0
            for await line in process.lines where EventLine(line)?.event == "completed" {
                completed += 1
                // After the backgrounds, while sectors are under way.
                if completed == 280 {
                    try overwrite(image, with: folder.file("other.fits"), restoringTime: restoresTime)
                }
            }
            let end = await process.end()
            let (old, new) = (try folder.contents("old/sky.csv"), try? folder.contents("new/sky.csv"))
            if end.status == 0 {
                #expect(new == old, "a catalogue of two images")
            } else {
                #expect(
                    end.errors.contains { $0.contains("sky.fits") && $0.contains("changed while it was") },
                    "\(end.errors)")
                #expect(new == nil, "there is no catalogue of an image that is not there any more")
            }
            // Without the change the scan takes less than a second, so the change came in the middle.
            #expect(end.status == 2, "the change was noticed")
        }
    }

    /// Writes over a part of the middle that is between two of the sixteen blocks that a sample looks at.
    private func overwrite(_ path: String, with other: String, restoringTime: Bool) throws {
        var before = stat()
        try #require(stat(path, &before) == 0)
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: other)))
        let (from, count) = ((bytes.count - 65_536) * 8 / 15 + 80_000, bytes.count / 15 - 200_000)
        let descriptor = open(path, O_WRONLY)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let written = bytes[from..<from + count].withUnsafeBytes {
            pwrite(descriptor, $0.baseAddress, count, off_t(from))
        }
        try #require(written == count)
        if restoringTime {
            try #require(utimensat(AT_FDCWD, path, [before.st_atim, before.st_mtim], 0) == 0)
        }
    }
}
