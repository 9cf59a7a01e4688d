import Testing

@testable import SkyCore

/// The command line that a daemon writes and its worker reads.
struct WorkerArgumentsTests {
    private func arguments(hasRuleset: Bool, _ folders: [String]) -> WorkerArguments {
        WorkerArguments(
            socket: "/tmp/skynode-1-a/socket", cluster: "workers-7", name: "worker-1", memory: 12_000_000_000,
            parent: 4711,
            hasRuleset: hasRuleset, readFolders: folders)
    }

    @Test(arguments: [[], ["/data"], ["/data", "--ruleset", "/a b", ""]])
    func `a worker reads what its daemon has written`(folders: [String]) {
        for hasRuleset in [false, true] {
            let arguments = arguments(hasRuleset: hasRuleset, folders)
            #expect(WorkerArguments(arguments.words) == arguments)
        }
    }

    @Test func `what no daemon writes is left to the parser of command lines`() {
        let words = arguments(hasRuleset: true, ["/data"]).words
        for count in 0..<words.count {
            // Without the folders, or also without the rules, it is whole.
            #expect(
                (WorkerArguments(Array(words.prefix(count))) == nil) == ![11, 12].contains(count), "\(count) words")
        }
        #expect(WorkerArguments(words + ["--try-reading", "a=b"]) == nil)
        #expect(WorkerArguments(words + ["--help"]) == nil)
        for (place, word) in [(0, "scan"), (1, "--name"), (8, "much"), (8, "-1"), (10, "99999999999999"), (10, "")] {
            var other = words
            other[place] = word
            #expect(WorkerArguments(other) == nil, "\(word)")
        }
    }
}
