import ArgumentParser
import Base
import SkyCore
import Transport

// What a person may decide about the copies of jobs, where the nodes cannot decide it themselves.

struct JobsUnprotectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unprotect", abstract: "Let jobs go on that wait for the nodes with their copies.",
        discussion: """
            A node goes on only while most of the nodes that keep its jobs answer: otherwise two halves of a cluster could \
            both go on, and their results could differ. Where those nodes will not come back, this command is your word \
            that none of them has taken the jobs over, and the node goes on alone. New copies are made as soon as \
            there are nodes for them. All jobs of the same node go on together.

            If other nodes have taken the jobs over after all, theirs count when the nodes see each other again, and this \
            node's journal is set aside.

            EXAMPLES:
              skynode jobs unprotect 7f3a
              skynode jobs unprotect --all --node dome-1:7420
            """)

    @Argument(help: ArgumentHelp("Ids of jobs, or their first digits.", valueName: "job"))
    var jobs: [String] = []

    @Flag(help: "All jobs of the node that is asked which wait, also those that it cannot list now.")
    var all = false

    @OptionGroup var options: JobsOptions

    func validate() throws {
        guard jobs.isEmpty == all else {
            throw ValidationError(all ? "name jobs, or give --all, not both" : "name a job, or give --all")
        }
        guard !jobs.contains(JobReference.last) else { throw ValidationError(JobReference.namesNoVictim) }
    }

    func run() async throws {
        try await options.with { [jobs, format = options.format] lookup in
            var count = 0
            if jobs.isEmpty {
                count = try await CopyActor.beside(lookup.coordinator).unprotect(UnprotectRequest(jobs: []))
            } else {
                let chosen = try await lookup.find(jobs, isVictim: true, needsOwner: true)
                for (_, found) in Dictionary(grouping: chosen, by: \.coordinator.id.node) {
                    count += try await CopyActor.beside(found[0].coordinator)
                        .unprotect(UnprotectRequest(jobs: found.map(\.job.id)))
                }
            }
            switch format {
            case .json: Console.output(try JSONLine.encode(["unprotected": count]))
            case .text:
                Console.output(
                    count == 0
                        ? "no jobs of this node wait for the nodes with their copies; nothing is changed"
                        : "the jobs go on without the nodes with their copies")
            }
        }
    }
}

struct JobsAdoptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt", abstract: "Take over the jobs of a lost node that a node has copies of.",
        discussion: """
            Where three nodes or more keep a node's jobs, they take them over by themselves when it is lost. Where there are \
            two, one of them cannot know whether the other is lost or only out of reach, so it needs your word. What the \
            lost node had stored in its last moments may be missing in the copy; the command says what is known of it. \
            Tasks whose results are missing are done again.

            If the other node comes back, it sets its own journal aside, and its jobs are those of the node that has \
            adopted them.

            EXAMPLES:
              skynode jobs adopt dome-1                         what this machine's node has of dome-1's jobs
              skynode jobs adopt dome-1 --node dome-2:7420
            """)

    @Argument(help: ArgumentHelp("The lost node's name.", valueName: "node"))
    var lost: String

    @OptionGroup var options: NodeOptions
    @OptionGroup(title: HelpSection.connection) var reconnect: ReconnectChoice

    func run() async throws {
        try await options.following(patience: reconnect.patience.duration) { connection in
            let adopted = try await connection.call { [lost] in
                try await CopyActor.beside($0).adopt(lost)
            }
            for copy in adopted {
                switch options.format {
                case .json: Console.output(try JSONLine.encode(AdoptedLine(copy)))
                case .text:
                    Console.output("took over the jobs of \(PrintableText.of(lost)): \(AdoptedLine.words(copy))")
                }
            }
        }
    }
}

/// What was taken over, as a program reads it.
struct AdoptedLine: Encodable {
    var adopted: String
    var missingBatches: UInt64?
    var silentSeconds: Double?

    init(_ copy: AdoptedCopy) {
        adopted = PrintableText.of(copy.coordinator)
        (missingBatches, silentSeconds) = (copy.missing, copy.silent?.inSeconds)
    }

    /// What may be missing.
    static func words(_ copy: AdoptedCopy) -> String {
        guard let missing = copy.missing, let silent = copy.silent else {
            return "it was not heard since this node started, so it is not known what it stored after the copy was made"
        }
        let known =
            missing == 0 ? "the copy had everything" : "\(missing) batches of entries are missing that it had then"
        return
            "when it was last heard, \(DurationText.age(silent.inSeconds)) ago, \(known); what it stored later is missing"
    }
}
