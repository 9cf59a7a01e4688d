import Fixtures
import Foundation
import Testing

@testable import SkyCore

/// How much copies of other nodes' journals may take.
struct CopyRoomTests {
    @Test func `copies may take so many bytes and no more`() throws {
        let data = ScratchFolder()
        let room = CopyRoom(in: data.path, limit: 64 << 10)
        #expect(room.bytes == 0)
        try room.check()
        try FileManager.default.createDirectory(
            atPath: data.path + "/1f", withIntermediateDirectories: false)
        try Data(count: 256 << 10).write(to: URL(fileURLWithPath: data.path + "/1f/journal.sqlite"))
        // What was found a moment ago still counts; another one looks anew.
        let later = CopyRoom(in: data.path, limit: 64 << 10)
        #expect(later.bytes >= 256 << 10)
        #expect(throws: JournalError.self) { try later.check() }
        later.setLimit(1 << 20)
        try later.check()
    }

    @Test func `a folder that is not there has room`() throws {
        try CopyRoom(in: "/nonexistent/copies", limit: 1).check()
    }
}
