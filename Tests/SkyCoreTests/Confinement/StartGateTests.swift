import Glibc
import Testing

@testable import SkyCore

/// The two ends of a gate, both in this process.
@Suite struct StartGateTests {
    @Test(.enabled(if: ConfinementSupport.ofThisMachine.landlock > 0, "skipped: the kernel has no Landlock"))
    func `a ruleset passes the gate, and no other program gets it`() throws {
        let gate = try StartGate()
        let ruleset = try LandlockRuleset(version: ConfinementSupport.ofThisMachine.landlock)
        gate.open(with: ruleset)
        let received = try #require(try StartGate.wait(at: dup(gate.processEnd)))
        defer { close(received) }
        #expect(received != ruleset.descriptor)
        let folder = open("/tmp", O_RDONLY | O_CLOEXEC)
        defer { close(folder) }
        #expect(try kind(of: received) == kind(of: ruleset.descriptor))
        #expect(try kind(of: received) != kind(of: folder))
        #expect(fcntl(received, F_GETFD) & FD_CLOEXEC != 0)
    }

    /// What a descriptor is of, as the kernel calls it.
    private func kind(of descriptor: Int32) throws -> String {
        var words = [CChar](repeating: 0, count: 256)
        let count = readlink("/proc/self/fd/\(descriptor)", &words, words.count)
        try #require(count > 0)
        return String(decoding: words.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    @Test func `the gate opens without a ruleset where there is none`() throws {
        let gate = try StartGate()
        gate.open(with: nil)
        #expect(try StartGate.wait(at: dup(gate.processEnd)) == nil)
    }

    @Test func `who waits at the gate of a daemon that is gone gives up`() throws {
        var gate: StartGate? = try StartGate()
        let end = dup(try #require(gate?.processEnd))
        gate = nil
        let error = #expect(throws: (any Error).self) { try StartGate.wait(at: end) }
        #expect("\(try #require(error))".contains("is gone"))
    }

    @Test func `what is no gate lets nobody through`() throws {
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        #expect(throws: (any Error).self) { try StartGate.wait(at: file) }
    }
}
