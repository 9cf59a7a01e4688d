import Base
import Testing
import Transport

@testable import SkyCore

@Suite struct NodeStatusTests {
    private func status(_ change: (inout NodeStatus) -> Void = { _ in }) -> NodeStatus {
        var status = NodeStatus(
            node: .random(), name: "anna", version: SkyNetVersion.current, slots: 8, running: 2, completed: 5,
            failed: 0,
            uptime: .seconds(60), load: 0.5)
        change(&status)
        return status
    }

    @Test func `plausible node statuses are accepted`() {
        #expect(status().isSane)
        #expect(status { $0.load = nil }.isSane)
        #expect(status { ($0.slots, $0.running, $0.completed) = (0, 0, 170_000_000_000) }.isSane)
    }

    @Test func `absurd node statuses are refused`() {
        let lies: [(inout NodeStatus) -> Void] = [
            { $0.version = String(repeating: "9", count: 1 << 20) }, { $0.version = "1\u{1B}[2J" }, { $0.version = "" },
            { $0.name = String(repeating: "x", count: 64) }, { $0.name = "a\u{202E}b" },
            { $0.slots = .max }, { $0.slots = -1 }, { $0.running = .max }, { $0.running = .min },
            { $0.completed = .max },
            { $0.failed = -1 }, { $0.uptime = .seconds(-1) }, { $0.uptime = .seconds(Int64.max) },
            { $0.load = .nan }, { $0.load = .infinity }, { $0.load = -1 },
        ]
        for lie in lies { #expect(!status(lie).isSane) }
    }
}
