import ArgumentParser
import Base
import Foundation
import Transport

/// `skynode key revoke`: takes a person's credentials back.
struct KeyRevokeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Take a person's credentials back.",
        discussion: """
            Adds the person to the file beside the cluster key that ends with .revoked. A node with that key, as its own or as one \
            that it accepts, reads it when it starts and when it reads its configuration again (systemctl reload skynode), ends the person's connections, and \
            tells all other nodes. Jobs go on. The time until which credentials count no more is half an hour from now, because clocks differ; \
            what is issued for the person on this machine counts at once; nodes cannot be revoked, because \
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
        // No file is made where this throws.
        _ = try Revocation(name, by: key, now: .now)
        var until = Date.distantPast
        try Revocations.change(file, for: .clusterKey(key)) { revocations in
            guard revocations.all.count < Revocations.limit || revocations.time(of: name) != nil else {
                throw CommandFailure(
                    .usage,
                    "\(PrintableText.of(file)): \(Revocations.limit) persons are revoked already; make a new cluster key"
                )
            }
            revocations.add(try Revocation(name, by: key, now: .now, after: revocations.time(of: name)))
            until = revocations.time(of: name) ?? until
        }
        Console.output(
            """
            credentials of \(name) that were issued until \(DayText.of(until)) count no more; \(PrintableText.of(file)) says so
            it takes effect when one node reads that file: systemctl reload skynode, or kill -HUP
            """)
    }
}
