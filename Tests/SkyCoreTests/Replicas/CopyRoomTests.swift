import Fixtures
import Foundation
import Testing

@testable import SkyCore

/// How much copies of other nodes' journals may take.
struct CopyRoomTests {
    @Test func `copies may take so many bytes and no more`() async throws {
        let data = ScratchFolder()
        let room = CopyRoom(in: data.path, limit: 64 << 10)
        #expect(await room.bytes == 0)
        try await room.check()
        try FileManager.default.createDirectory(
            atPath: data.path + "/1f", withIntermediateDirectories: false)
        try Data(count: 256 << 10).write(to: URL(fileURLWithPath: data.path + "/1f/journal.sqlite"))
        // What was found a moment ago still counts; another one looks anew.
        let later = CopyRoom(in: data.path, limit: 64 << 10)
        #expect(await later.bytes >= 256 << 10)
        await #expect(throws: JournalError.self) { try await later.check() }
        later.setLimit(1 << 20)
        try await later.check()
    }

    @Test func `a folder that is not there has room`() async throws {
        try await CopyRoom(in: "/nonexistent/copies", limit: 1).check()
    }
}
