import Fixtures
import Glibc
import Testing

@testable import SkyNode

struct ConfigurationFileTests {
    private func complaints(_ text: String) -> [String] {
        ConfigurationFile(path: "/etc/skynode.yaml", text: text).complaints
    }

    @Test(.timeLimit(.minutes(1))) func `a FIFO is no configuration file, and nobody waits for its writer`() {
        let folder = ScratchFolder()
        mkfifo(folder.file("x.yaml"), 0o600)
        #expect(throws: CommandFailure.self) { try ConfigurationFile(path: folder.file("x.yaml")) }
    }

    @Test func `a valid file has a line for each key and no faults`() {
        let file = ConfigurationFile(
            path: "x.yaml",
            text: """
                # A comment.
                name: dome-3
                slots: 4

                join: [one:7420, two:7420]
                no-multicast: true
                listen: 0.0.0.0:7420
                """)
        #expect(file.complaints == [])
        #expect(file.lines == ["name": 2, "slots": 3, "join": 5, "no-multicast": 6, "listen": 7])
        #expect(
            file.values == [
                "name": ["dome-3"], "slots": ["4"], "join": ["one:7420", "two:7420"], "no-multicast": ["true"],
                "listen": ["0.0.0.0:7420"],
            ])
    }

    @Test(arguments: ["", "\n", "# nothing\n", "---\n"])
    func `an empty file has no faults`(text: String) {
        #expect(complaints(text) == [])
    }

    @Test(arguments: [
        ("slots: 4\nslot: 5\n", "/etc/skynode.yaml:2: there is no key `slot`; did you mean `slots`?"),
        ("worker_memory: 4G\n", "/etc/skynode.yaml:1: there is no key `worker_memory`; did you mean `worker-memory`?"),
        ("\n\nLISTEN: a:1\n", "/etc/skynode.yaml:3: there is no key `LISTEN`; did you mean `listen`?"),
        ("colour: red\n", "/etc/skynode.yaml:1: there is no key `colour`; skynode serve --list-keys tells them all"),
        ("slots:\n", "/etc/skynode.yaml:1: `slots` has no value"),
        ("slots: [1, 2]\n", "/etc/skynode.yaml:1: `slots` takes one value: tasks"),
        ("name: {a: b}\n", "/etc/skynode.yaml:1: `name` takes one value: text"),
        ("join: one:7420\n", "/etc/skynode.yaml:1: `join` takes a list: `join: [ONE, ANOTHER]`"),
        ("join: [{a: b}]\n", "/etc/skynode.yaml:1: `join` takes a list of HOST:PORT each"),
        ("join: ['']\n", "/etc/skynode.yaml:1: `join` takes a list of HOST:PORT each"),
        ("insecure: perhaps\n", "/etc/skynode.yaml:1: `insecure` takes true or false"),
        ("just words\n", "/etc/skynode.yaml:1: not lines of `key: value`"),
        ("[1, 2]\n", "/etc/skynode.yaml:1: not lines of `key: value`"),
        ("[a]: b\n", "/etc/skynode.yaml:1: a key is a word"),
    ])
    func `a fault is reported with its line and a suggestion`(text: String, complaint: String) {
        #expect(complaints(text) == [complaint])
    }

    @Test func `all faults are reported in the order of their lines`() {
        let found = complaints("nam: x\nslots: 4\njion: [a:1]\ninsecure: 7\n")
        #expect(found.map { $0.split(separator: ":")[1] } == ["1", "3", "4"])
    }

    @Test(arguments: [
        "slots: 4\n  name: x\n", "name: 'x\n", "\tslots: 4\n", "a: b: c\n", "slots: 1\nslots: 2\n", "name: \u{0}\n",
        "&a [*a]\n", String(repeating: "[", count: 60_000), String(repeating: "a: ", count: 20_000),
        String(repeating: "- ", count: 60_000), String(repeating: "{a: ", count: 60_000), "name: !!binary x\n: y\n",
    ])
    func `text that is not YAML is one fault and no crash`(text: String) {
        #expect(complaints(text).count == 1)
    }

    @Test func `the nearest key to a misspelt one is found`() {
        #expect(ServeKeys.nearest(to: "keep-job")?.name == "keep-jobs")
        #expect(ServeKeys.nearest(to: "keep_days")?.name == "keep-days")
        #expect(ServeKeys.nearest(to: "xyzzy") == nil)
        #expect(EditDistance.between("kitten", "sitting") == 3)
        #expect(EditDistance.between("", "abc") == 3)
        #expect(EditDistance.between("abc", "abc") == 0)
    }
}
