import ArgumentParser
import Base
import NIOCore
import SkyCore
import Transport

/// `skynode jobs submit`: jobs of any kind, written as JSON.
struct JobsSubmitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "submit", abstract: "Submit jobs that are written as JSON, and print their ids.",
        discussion: """
            Each file holds one job, as a program sends it by HTTP (POST /v1/jobs); docs/openapi.yaml has the fields. The \
            kinds of jobs are \(JobKinds.words.joined(separator: ", ")). Nothing is submitted where one of them is wrong.

            EXAMPLES:
              echo '{"kind": "simulate", "tasks": 100}' | skynode jobs submit -
              skynode jobs submit night/*.json
            """)

    @Argument(
        help: ArgumentHelp("Files with a job each; - for standard input.", valueName: "file"),
        completion: .file(extensions: ["json"]))
    var files: [String] = []

    @OptionGroup(title: HelpSection.connection) var choice: NodeChoice
    @OptionGroup(title: HelpSection.connection) var network: NetworkOptions
    @OptionGroup(title: HelpSection.connection) var log: LogOptions
    @OptionGroup(title: HelpSection.connection) var reconnect: ReconnectChoice
    @OptionGroup var display: DisplayOptions

    func validate() throws {
        guard !files.isEmpty else { throw ValidationError("name a file with a job, or - for standard input") }
        guard files.count(where: { $0 == "-" }) < 2 else { throw ValidationError("standard input is read once") }
    }

    func run() async throws {
        let submissions = try files.map(JobsSubmitCommand.submission)
        try await JobHandover.detach(
            submissions,
            JobHandover.Destination(
                node: choice.node, network: network, log: log, patience: reconnect.patience.duration,
                format: display.format))
    }

    static func submission(_ file: String) throws(SkyError) -> Submission {
        let limit = Submission.jsonLimit
        let name = file == "-" ? "standard input" : PrintableText.of(file)
        let bytes =
            try file == "-" ? OptionFile.standardInput(limit: limit) : OptionFile.contents(of: file, limit: limit)
        do {
            return try Submission(json: ByteBuffer(bytes: bytes))
        } catch {
            throw SkyError(error.kind, "\(name): \(error.message)")
        }
    }
}
