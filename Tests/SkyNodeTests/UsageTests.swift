import ArgumentParser
import Testing

@testable import SkyNode

/// The errors for a command line with a mistake.
struct UsageTests {
    private func complaint(_ line: String) -> String? {
        CommandPath(line.split(separator: " ").map(String.init)).complaint
    }

    private func words(_ line: String) throws -> UsageWords {
        let arguments = line.split(separator: " ").map(String.init)
        let error = try #require(throws: (any Error).self) { _ = try SkyNodeCommand.parseAsRoot(arguments) }
        return UsageWords(error, of: SkyNodeCommand.self)
    }

    @Test(arguments: [
        "scan a.fits", "jobs", "jobs show 7f", "nodes --watch", "help", "help jobs show", "--help", "", "key show-id x",
        "worker", "scan jobs", "--generate-completion-script bash", "jobs 7f3a", "jobs @last --format json",
        "nodes dome-2", "nodes 4f09038379318800",
    ])
    func `existing commands raise no complaint`(line: String) {
        #expect(complaint(line) == nil)
    }

    @Test(arguments: [
        "version", "version --help", "version --version", "version x", "doctor --node a", "doctor --nod a", "jobs list",
        "jobs help", "help version", "version help", "--version",
    ])
    func `a command is parsed to the same, and with the same errors, as by the program's parser`(line: String) throws {
        func outcome(_ parse: ([String]) throws -> any ParsableCommand) -> String {
            do {
                return String(describing: try parse(line.split(separator: " ").map(String.init)))
            } catch {
                return SkyNodeCommand.fullMessage(for: error)
            }
        }
        #expect(outcome { try CommandPath($0).command() } == outcome { try SkyNodeCommand.parseAsRoot($0) })
    }

    @Test(arguments: [
        ("sacn", "did you mean skynode scan?"), ("sacn --help", "did you mean skynode scan?"),
        ("help jbos", "did you mean skynode jobs?"), ("drain dome-2", "did you mean skynode nodes drain?"),
        ("drain --help", "did you mean skynode nodes drain?"), ("jobs cancle 7f", "did you mean skynode jobs cancel?"),
        ("show 7f", "did you mean skynode jobs show?"), ("nodes drian", "did you mean skynode nodes drain?"),
        ("jobs m31", "there are: list, show"), ("jobs lits", "did you mean skynode jobs list?"),
        ("frobnicate", "there are: serve, scan"),
    ])
    func `an unknown command is named with a suggestion`(line: String, words: String) throws {
        let found = try #require(self.complaint(line))
        #expect(found.hasPrefix("unknown command \"") && found.contains(words), "\(found)")
        #expect(!found.contains("worker"), "hidden ones stay hidden")
    }

    @Test(arguments: [
        ("jobs show", "skynode jobs show --help"), ("nodes drain", "skynode nodes drain --help"),
        ("key show", "skynode key show --help"), ("scan --treshold 5", "skynode scan --help"),
    ])
    func `the error points to the help of the command itself`(line: String, help: String) throws {
        #expect(try words(line).help == help)
    }

    @Test(arguments: [
        ("simulate --time-limit 5x", "such as 90s, 10m or 2h"), ("simulate --duration 10", "such as 90s"),
        ("jobs delete --older 7", "such as 7d, 12h or 30m"), ("jobs --state bad", "done, failed, cancelled, bad-input"),
        ("serve --data-limit 20-gigs", "such as 500M or 20G"), ("simulate --tasks many", "a number"),
        ("scan a --format-catalogue csv,xml", "fits, ldac, csv, ecsv, votable, ndjson, reg"),
        ("serve --log-level loud", "trace, debug, info, notice, warning, error, critical"),
        ("scan a --filter gauss", "none, default, seeing or the name of a .conv file"),
        ("scan a --preset fast", "sensitive"),
    ])
    func `a bad value is refused with the allowed ones`(line: String, form: String) throws {
        let message = try words(line).line
        #expect(message.contains(form) && !message.contains("\n"), "\(message)")
        #expect(!message.contains("?;") && !message.contains(".;"), "\(message)")
    }

    @Test(arguments: [
        ("simulate --priority -5", "written --priority=-5"), ("scan a.fits --threshold -3", "written --threshold=-5"),
        ("jobs results @last --check-image rms", "no check images are kept with a job"),
    ])
    func `a mistake that is easily made is named with what to write`(line: String, advice: String) throws {
        let message = try words(line).line
        #expect(message.contains(advice) && !message.contains("\n"), "\(message)")
    }

    @Test func `an incomplete address is completed in the error`() {
        func complaint(_ text: String, _ option: String) -> String {
            do {
                _ = try AddressArgument.parse(text, option: option, allowsPortZero: true)
                return ""
            } catch {
                return (error as? CommandFailure)?.message ?? ""
            }
        }
        #expect(complaint("7420", "--listen").hasSuffix("did you mean 0.0.0.0:7420?"))
        #expect(complaint("7420", "--node").hasSuffix("did you mean 127.0.0.1:7420?"))
        #expect(complaint("dome-2", "--join").hasSuffix("did you mean dome-2:7420?"))
        #expect(complaint("what is this", "--join").hasSuffix("HOST:PORT"))
    }

    @Test(arguments: ["-V", "-v", "--verion"]) func `misspelt version options suggest --version`(option: String) {
        #expect(CommandPath.nearestOption(option) == "--version")
    }
}
