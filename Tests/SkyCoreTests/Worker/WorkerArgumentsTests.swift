import Testing

@testable import SkyCore

/// The command line that a daemon writes and its worker reads.
struct WorkerArgumentsTests {
    private func arguments(_ folders: [String]) -> WorkerArguments {
        WorkerArguments(
            socket: "/tmp/skynode-1-a/socket", cluster: "workers-7", name: "worker-1", memory: 12_000_000_000,
            parent: 4711, readFolders: folders)
    }

    @Test(arguments: [[], ["/data"], ["/data", "--gate", "/a b", ""]])
    func `a worker reads what its daemon has written`(folders: [String]) {
        let arguments = arguments(folders)
        #expect(WorkerArguments(arguments.words) == arguments)
    }

    @Test func `what no daemon writes is left to the parser of command lines`() {
        let words = arguments(["/data"]).words
        for count in 0..<words.count {
            // Without the folders it is whole.
            #expect((WorkerArguments(Array(words.prefix(count))) == nil) == (count != 12), "\(count) words")
        }
        #expect(WorkerArguments(words + ["--try-reading", "a=b"]) == nil)
        #expect(WorkerArguments(words + ["--help"]) == nil)
        for (place, word) in [
            (0, "scan"), (1, "--name"), (8, "much"), (8, "-1"), (10, "99999999999999"), (10, ""), (11, "--ruleset"),
        ] {
            var other = words
            other[place] = word
            #expect(WorkerArguments(other) == nil, "\(word)")
        }
    }
}
