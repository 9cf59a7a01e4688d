import ArgumentParser
import Base
import Sky
import SkyCore
import Transport

/// `skynode version`: what this program is, and what it works with.
struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Show the version, the protocols that it speaks, and its libraries.",
        discussion: """
            Nodes work together if they have a protocol version in common. Of a scan, tasks go only to nodes whose \
            arithmetic is the same: the first two numbers of the version, the libraries that measure, the C library's \
            mathematical functions, and the architecture. Others may measure differently.
            """)

    @Option(help: "text for people, json for programs.")
    var format = OutputFormat.text

    func run() throws {
        let version = ProgramVersion()
        switch format {
        case .text: for line in version.lines { Console.output(line) }
        case .json: Console.output(try JSONLine.encode(version))
        }
    }
}

/// What there is to know of the program before it does anything.
struct ProgramVersion: Encodable {
    var version = SkyNetVersion.current
    /// The releases that measure alike.
    var results = SkyNetVersion.series
    var oldestProtocol = Hello.oldestVersion
    var newestProtocol = Hello.currentVersion
    var beacon = NetworkSurvey.beaconVersion
    /// What its results depend on.
    var arithmetic = Arithmetic.current.text
    var libraries = Dictionary(uniqueKeysWithValues: LibraryVersions.all.map { ($0.name, $0.version) })

    var lines: [String] {
        let protocols =
            oldestProtocol == newestProtocol ? "\(newestProtocol)" : "\(oldestProtocol) to \(newestProtocol)"
        return [
            "skynode    \(version)", "protocol   \(protocols)", "beacon     \(beacon)",
            "arithmetic \(arithmetic)",
            "libraries  " + LibraryVersions.all.map { "\($0.name) \($0.version)" }.joined(separator: ", "),
        ]
    }
}
