import ArgumentParser
import Foundation
import Testing

@testable import SkyNode

/// What shells complete with: an option without a kind of its own completes to nothing, and hides the files that are there.
struct CompletionTests {
    private struct Argument {
        var command: String
        var name: String
        var valueName: String
        var kind: String?
    }

    /// All options and arguments that people see, as the parser gives them to shells.
    private func arguments() throws -> [Argument] {
        let dump = try JSONSerialization.jsonObject(with: Data(SkyNodeCommand._dumpHelp().utf8)) as? [String: Any]
        var found: [Argument] = []
        func visit(_ command: [String: Any]) {
            for argument in command["arguments"] as? [[String: Any]] ?? [] {
                let names = argument["names"] as? [[String: Any]] ?? []
                let kind = argument["completionKind"] as? [String: Any]
                found.append(
                    Argument(
                        command: command["commandName"] as? String ?? "",
                        name: names.first?["name"] as? String ?? "", valueName: argument["valueName"] as? String ?? "",
                        kind: kind?.keys.first))
            }
            for next in command["subcommands"] as? [[String: Any]] ?? [] { visit(next) }
        }
        visit(try #require(dump?["command"] as? [String: Any]))
        return found
    }

    @Test func `options that take a file or a folder complete to files`() throws {
        let paths = try arguments().filter {
            $0.valueName.hasPrefix("file") || $0.valueName.hasPrefix("folder") || $0.valueName == "image"
        }
        #expect(paths.count > 30, "they are found at all")
        for path in paths {
            #expect(path.kind == "file" || path.kind == "directory", "\(path.command) \(path.name)")
        }
    }

    @Test func `options with a fixed set of values complete to these`() throws {
        let words = [
            "preset", "filter", "profile", "inject-profile", "format", "format-catalogue", "log-level", "sector",
        ]
        let all = try arguments()
        for name in words {
            let found = all.filter { $0.name == name }
            #expect(!found.isEmpty && found.allSatisfy { $0.kind == "list" }, "\(name)")
        }
    }
}
