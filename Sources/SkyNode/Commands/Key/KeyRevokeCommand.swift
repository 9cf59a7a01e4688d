import ArgumentParser
import Base
import Transport

/// `skynode key revoke`: takes a person's credentials back.
struct KeyRevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Take a person's credentials back.",
        discussion: """
            Adds the person to the file beside the cluster key that ends with .revoked. A node with that key, as its own or as one \
            that it accepts, reads it when it starts and when it reads its configuration again (systemctl reload skynode), ends the person's connections, and \
            tells all other nodes. Jobs go on. Credentials that are issued later count; nodes cannot be revoked, because \
            they have the cluster key itself.

            EXAMPLES:
              skynode key revoke alice && systemctl reload skynode       on one node
            """)

    @Argument(help: ArgumentHelp("The person.", valueName: "name"))
    var name: String

    @OptionGroup var key: KeyFileOption

    func run() throws {
        let (path, key) = try key.read()
        let file = Revocations.path(besideKey: path)
        let revocation = try Revocation(name, by: key, now: .now)
        try Revocations.change(file, for: .clusterKey(key)) { revocations in
            guard revocations.all.count < Revocations.limit || revocations.time(of: name) != nil else {
                throw CommandFailure(
                    .usage,
                    "\(PrintableText.of(file)): \(Revocations.limit) persons are revoked already; make a new cluster key"
                )
            }
            revocations.add(revocation)
        }
        Console.output(
            """
            credentials of \(name) that were issued until now count no more; \(PrintableText.of(file)) says so
            it takes effect when one node reads that file: systemctl reload skynode, or kill -HUP
            """)
    }
}
