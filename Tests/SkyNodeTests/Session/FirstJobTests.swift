import Fixtures
import Foundation
import Testing

@testable import SkyNode

/// What a scan begins before it knows whether there are other nodes.
struct FirstJobTests {
    @Test func `one worker is started early for one small image, and two for all else`() throws {
        let folder = ScratchFolder()
        func file(_ name: String, size: UInt64) throws -> String {
            let path = "\(folder.path)/\(name)"
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            let handle = try #require(FileHandle(forWritingAtPath: path))
            try handle.truncate(atOffset: size)
            try handle.close()
            return path
        }
        let (small, large) = (try file("small.fits", size: 1 << 20), try file("large.fits", size: 8 << 20))
        func workers(_ images: [String], reference: String? = nil) throws -> Int? {
            FirstJob(try ScanFixture.plan(images: images, reference: reference))?.earlyWork.workers
        }
        #expect(try workers([small]) == 1)
        #expect(try workers([large]) == 2)
        #expect(try workers([small, small]) == 2, "the second job comes at once")
        #expect(try workers([folder.path + "/none.fits"]) == 2, "only the scan says what is wrong with it")
        #expect(try workers([small], reference: large) == nil, "the first job is that of the reference")
    }
}
