import Foundation
import Testing

@testable import SkyNode

struct OperationsTests {
    @Test func `the documentation has every key as the program knows it`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../docs")
        let text = try String(contentsOf: folder.appendingPathComponent("OPERATIONS.md"), encoding: .utf8)
        #expect(text.contains(ConfigurationKey.table), "skynode serve --list-keys prints what belongs there")
    }
}
