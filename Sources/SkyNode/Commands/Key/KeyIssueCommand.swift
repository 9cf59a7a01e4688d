import ArgumentParser
import Base
import Foundation
import SkyCore
import Transport

/// `skynode key issue`: a credential for a person who does not get the cluster key.
struct KeyIssueCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "issue", abstract: "Make a person's credential, with which they use the cluster without its key.",
        discussion: """
            A user submits jobs, and sees, fetches, cancels and deletes their own. An operator does this with everybody's \
            jobs, and drains nodes. Neither can be a node or make further credentials. The file takes the place of the \
            cluster key: --cluster-key laptop.pem, or ~/.config/skynode/cluster.key on the person's machine.

            A user may have limits: --slots, --jobs, --bytes. Each node keeps them for the jobs that are submitted to it; what was \
            submitted before keeps the limits that it was submitted with.

            EXAMPLES:
              skynode key issue alice > laptop.pem                 a user's, for a year
              skynode key issue --role operator bob -o bob.pem
              skynode key issue eve --slots 4 --jobs 10 --bytes 20G > eve.pem
              skynode key revoke alice                             takes alice's back
            """)

    enum Role: String, CaseIterable, ExpressibleByArgument {
        case user, `operator`

        var callerRole: CallerRole { self == .user ? .user : .operator }
    }

    @Argument(help: ArgumentHelp("The person: letters, digits, and . _ - @.", valueName: "name"))
    var name: String

    @Option(help: ArgumentHelp("What they may do: user or operator.", valueName: "role"))
    var role = Role.user

    @Option(help: ArgumentHelp("For how long it is good, at most as long as the cluster key.", valueName: "n"))
    var days = Int(Credential.standardLifetime / 86_400)

    @Option(help: ArgumentHelp("How many slots a user's jobs may hold together. Default: no limit.", valueName: "n"))
    var slots: Int?

    @Option(help: ArgumentHelp("How many of a user's jobs may go on at once. Default: no limit.", valueName: "n"))
    var jobs: Int?

    @Option(
        help: ArgumentHelp(
            "How many bytes a user's jobs may store, also those that have ended: 500M, 20G. Default: no limit.",
            valueName: "size"))
    var bytes: SizeArgument?

    @OptionGroup var key: KeyFileOption

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("File to write instead of standard output; it must not exist.", valueName: "file"),
        completion: .file())
    var output: String?

    func validate() throws {
        guard Person.isValidName(name) else {
            throw ValidationError(
                "a person's name has 1 to 63 letters, digits, and . _ - @, and begins with a letter or digit")
        }
        guard (1...3650).contains(days) else { throw ValidationError("--days takes a number from 1 to 3650") }
        for (subject, value) in [(.slots, slots), (.jobs, jobs)] as [(PersonalLimits.Subject, Int?)] {
            guard let value, !subject.range.contains(value) else { continue }
            throw ValidationError("--\(subject.rawValue) takes a number from 1 to \(subject.range.upperBound)")
        }
        guard limits != nil else { throw ValidationError("--bytes takes a size from 1 to 1024T") }
        guard role == .user || limits?.isEmpty == true else {
            throw ValidationError("--slots, --jobs and --bytes are for users; an operator has no limits")
        }
    }

    /// The result is `nil` where one is out of its range.
    private var limits: PersonalLimits? { PersonalLimits(slots: slots, jobs: jobs, bytes: bytes?.count) }

    func run() throws {
        let (path, key) = try key.read()
        guard let limits, let person = Person(name: name, role: role.callerRole, limits: limits) else {
            throw ValidationError("no name")
        }
        // What was revoked lately counts for a while to come; a credential that is made here is not meant.
        let revocations = try Revocations(
            contentsOf: Revocations.path(besideKey: path), for: .clusterKey(key))
        let credential = try Credential.issue(
            to: person, by: key, validFor: TimeInterval(days) * 86_400, now: .now, after: revocations.time(of: name))
        if let file = try KeyOutput.write(credential.pem, to: output) {
            let words = LimitWords.of(limits).map { ", \($0)" } ?? ""
            Console.output(
                "wrote \(PrintableText.of(file)), readable by you alone: \(person)\(words), "
                    + "until \(DayText.of(credential.validUntil))")
        }
    }
}

/// Which cluster key a command of `skynode key` works with.
struct KeyFileOption: ParsableArguments {
    @Option(
        name: .customLong("cluster-key"),
        help: ArgumentHelp(
            "The cluster key. Default: the file that \(KeyChoice.variable) names, else the one in its usual place.",
            valueName: "file"), completion: .file())
    var path: String?

    /// The key and where it is.
    ///
    /// - Throws: `CommandFailure` where there is none, or a credential instead.
    func read() throws -> (path: String, key: ClusterKey) {
        let found = KeyChoice.find(
            option: path, hasCertificates: false, isInsecure: false,
            environment: ProcessInfo.processInfo.environment, home: Account.ofThisProcess?.home)
        guard let found else {
            throw CommandFailure(.usage, "which cluster key? name it with --cluster-key FILE")
        }
        switch try KeyFile(contentsOf: found.path) {
        case .cluster(let key): return (found.path, key)
        case .credential(let credential):
            throw CommandFailure(
                .usage, "\(PrintableText.of(found.path)): the \(credential); this takes the cluster key itself")
        }
    }
}
