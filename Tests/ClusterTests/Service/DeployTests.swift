import Foundation
import FoundationXML
import Glibc
import Testing

/// Files that others read.
@Suite struct DeployTests {
    private func deploy(_ path: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("deploy/" + path)
    }

    @Test func `the unit for several nodes is the unit for one, but for its names`() throws {
        func lines(_ path: String) throws -> [Substring] {
            try String(contentsOf: deploy(path), encoding: .utf8).split(separator: "\n")
        }
        let (one, several) = (try lines("systemd/skynode.service"), try lines("systemd/skynode@.service"))
        #expect(one.count == several.count)
        let different = zip(one, several).filter { $0 != $1 }.map(\.1)
        let names = ["#", "Description=", "ExecStart=", "StateDirectory=", "RuntimeDirectory="]
        #expect(different.count == names.count, "\(different)")
        for (line, name) in zip(different, names) {
            #expect(line.hasPrefix(name) && (name == "#" || line.contains("%i")))
        }
    }

    @Test(.enabled(if: access("/usr/bin/python3", X_OK) == 0, "no python3"))
    func `the manual has what people see, and the program's own exit codes`() async throws {
        let script = deploy("manual.py").path
        let made = try await Skynode.shell("\"$0\" --experimental-dump-help | '\(script)' --date 2026-11-23")
        #expect(made.status == 0 && made.errors.isEmpty, "\(made.errors)")
        let sections = made.output.filter { $0.hasPrefix(".Sh ") }.map { $0.dropFirst(4) }
        #expect(
            sections == [
                "NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "CONNECTIONS", "ENVIRONMENT", "FILES", "EXIT STATUS",
                "EXAMPLES", "SEE ALSO",
            ])
        for code in ["0", "1", "2", "3", "130"] { #expect(made.output.contains(".It \(code)"), "\(code)") }
        #expect(!made.output.contains { $0.contains("skynode worker") || $0.contains("\\-\\-parent") })
        // The options of connections once, not with every command.
        #expect(made.output.count { $0.hasPrefix(".It \\-\\-tls\\-trust\\-roots") } == 1)
        #expect(made.output.count < 880, "\(made.output.count) lines")
    }

    /// What bash offers at the end of a line, in a folder with some files.
    private func completions(_ line: String) async throws -> Set<String> {
        let script = """
            cd "$(mktemp -d)" && touch night1.fits notes.txt cluster.key && mkdir outdir
            source <("$0" --generate-completion-script bash)
            IFS=' ' read -r -a COMP_WORDS <<< '\(line)'
            case '\(line)' in *' ') COMP_WORDS+=('') ;; esac
            COMP_LINE='\(line)' COMP_POINT=${#COMP_LINE} COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
            _skynode skynode "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            rm -r "$PWD"
            """
        let ended = try await RunningProcess("/bin/bash", ["-c", script, Skynode.path]).end()
        return Set(ended.output)
    }

    @Test(
        .enabled(if: access("/bin/bash", X_OK) == 0, "no bash"),
        arguments: [
            ("skynode scan ni", ["night1.fits"]), ("skynode scan a.fits -o ou", ["outdir"]),
            ("skynode scan --reference ni", ["night1.fits"]), ("skynode key show clu", ["cluster.key"]),
            ("skynode serve --data ", ["outdir"]), ("skynode scan --preset ", ["sextractor", "sensitive"]),
            ("skynode scan --filter se", ["seeing"]),
        ])
    func `the shell completes files, folders and values`(line: String, words: [String]) async throws {
        #expect(try await completions(line) == Set(words))
    }

    @Test func `avahi's service file is XML, and names the node's port`() throws {
        let document = try XMLDocument(contentsOf: deploy("avahi/skynode.service"))
        let types = try document.nodes(forXPath: "/service-group/service/type").map(\.stringValue)
        let ports = try document.nodes(forXPath: "/service-group/service/port").map(\.stringValue)
        #expect(types == ["_skynode._tcp"])
        #expect(ports == ["7420"])
    }
}
