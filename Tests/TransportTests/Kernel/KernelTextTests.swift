import Testing

@testable import Transport

@Suite struct KernelTextTests {
    @Test func `a file without a size is read to its end`() throws {
        let maps = try #require(KernelText.of("/proc/self/maps"))
        #expect(maps.utf8.count > 4096, "more than comes at once")
        #expect(maps.hasSuffix("\n") && maps.contains("[stack]"))
        #expect(KernelText.of("/proc/self/nothing") == nil)
        #expect(KernelText.of("/proc/self") == nil)
    }
}
