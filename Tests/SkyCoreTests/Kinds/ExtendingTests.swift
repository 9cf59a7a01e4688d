import Foundation
import Testing

/// The guide to a new kind of job.
@Suite struct ExtendingTests {
    @Test func `the guide shows the code that was compiled`() throws {
        let kinds = URL(filePath: #filePath).deletingLastPathComponent()
        let root = kinds.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let example = kinds.appending(path: "Checksum")
        var files = try FileManager.default.contentsOfDirectory(at: example, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "swift" }
        #expect(files.count >= 4)
        files.append(root.appending(path: "Sources/SkyJobs/InstalledKinds.swift"))
        let sources = try files.map { try String(contentsOf: $0, encoding: .utf8) }
        let guide = try String(contentsOf: root.appending(path: "docs/EXTENDING.md"), encoding: .utf8)
        let blocks = guide.components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
        #expect(blocks.count > 4)
        for block in blocks { #expect(sources.contains { $0.contains(block) }, "\(block)") }
    }
}
