import Testing

@testable import SkyNode

/// What `-h` shows, and what `--help` adds.
struct ShortHelpTests {
    private func help(_ line: String, width: Int = 80) throws -> [String] {
        ShortHelp(line.split(separator: " ").map(String.init), root: try CommandInfo.root(), width: width).lines
    }

    @Test func `only -h shows the short help`() {
        #expect(ShortHelp.isAsked(["scan", "-h"]) && ShortHelp.isAsked(["-h"]))
        #expect(!ShortHelp.isAsked(["scan", "--help"]) && !ShortHelp.isAsked(["scan", "--", "-h"]))
    }

    @Test(arguments: [
        "", "scan", "serve", "jobs", "jobs list", "jobs delete", "nodes", "key", "synthesize", "simulate", "doctor",
    ])
    func `the short help fits a screen, and has no line that is wider`(command: String) throws {
        let lines = try help(command + " -h")
        #expect(lines.count <= 52 && lines.allSatisfy { $0.count <= 80 }, "\(lines.joined(separator: "\n"))")
        #expect(lines.contains { $0.hasPrefix("USAGE: skynode \(command)".trimmingCharacters(in: [" "])) })
    }

    @Test func `connection options are in the long help only`() throws {
        let lines = try help("jobs list -h").joined(separator: "\n")
        #expect(lines.contains("--state <state>") && lines.contains("--wide"))
        for hidden in ["--cluster-key", "--multicast", "--node", "--log-level"] { #expect(!lines.contains(hidden)) }
        #expect(lines.contains("skynode jobs list --help shows all options"), "\(lines)")
    }

    @Test func `every option in the short help exists`() throws {
        #expect(ShortHelp.common.count >= 4)
        for (command, names) in ShortHelp.common {
            let lines = try help("\(command) -h")
            let start = try #require(lines.firstIndex(of: "COMMON OPTIONS:"))
            for name in names {
                #expect(lines[start...].contains { $0.contains("--\(name) ") }, "\(command) --\(name)")
            }
        }
    }

    @Test(arguments: ["scan", "serve", "jobs", "nodes", "key", "synthesize", "doctor", "simulate", "jobs delete", ""])
    func `each command has examples, which fit a screen and are commands`(command: String) throws {
        let lines = try help(command + " -h")
        let start = try #require(lines.firstIndex(of: "EXAMPLES:"))
        let examples = lines[start...].dropFirst().prefix { !$0.isEmpty }
        #expect(examples.count >= 2)
        for example in examples {
            #expect(example.hasPrefix("  skynode ") || example.hasPrefix("  scp "), "\(example)")
            let command = example.dropFirst(2).prefix { $0 != "|" }.split(separator: "   ").first ?? ""
            let words = command.split(separator: " ").dropFirst().map(String.init)
            if example.hasPrefix("  skynode ") { #expect(CommandPath(words).complaint == nil, "\(example)") }
        }
    }

    @Test func `the long help of a scan is in groups`() throws {
        let help = SkyNodeCommand.helpMessage(for: ScanCommand.self, columns: 100)
        let heads = help.split(separator: "\n").filter { $0.first?.isLetter == true && $0.hasSuffix(":") }
        let groups = [
            "INPUT:", "OUTPUT:", "DETECTION:", "PHOTOMETRY:", "BACKGROUND:", "COMPARISON:", "TWO IMAGES:",
            "ARTIFICIAL STARS:", "JOB:", "CLUSTER:", "CONNECTION:",
        ]
        for group in groups { #expect(heads.count { $0 == group } == 1, "\(group) among \(heads)") }
    }

    @Test func `headings are bold on a terminal`() {
        let style = TextStyle(isColoured: true)
        #expect(LongHelp("USAGE: skynode\n  -x").text(style) == "\u{1B}[1mUSAGE:\u{1B}[0m skynode\n  -x")
        #expect(LongHelp("TWO IMAGES:").text(.plain) == "TWO IMAGES:")
    }

    @Test func `the common options come after a command's own`() {
        let text = "USAGE: x\n\nCONNECTION:\n  --node\n\nOPTIONS:\n  --all\n\nSUBCOMMANDS:\n  list"
        let arranged = "USAGE: x\n\nOPTIONS:\n  --all\n\nCONNECTION:\n  --node\n\nSUBCOMMANDS:\n  list"
        #expect(LongHelp(text).text(.plain) == arranged)
        let other = "CONNECTION:\n  --node\n\nand nothing else"
        #expect(LongHelp(other).text(.plain) == other)
        let help = LongHelp(SkyNodeCommand.helpMessage(for: JobsListCommand.self)).text(.plain)
        #expect(help.contains("\n\nCONNECTION:\n  --node") && help.hasSuffix("\n"))
    }
}
