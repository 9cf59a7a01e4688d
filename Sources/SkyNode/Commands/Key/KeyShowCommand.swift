import ArgumentParser
import Foundation
import Transport

/// `skynode key show`: what can be said of a key without giving it away.
struct KeyShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a key's fingerprint and until when it is valid; nothing secret.",
        discussion: """
            Two machines are of one cluster if their keys have the same fingerprint. Of a credential it shows whose it is and its \
            limits, of a cluster key also who is revoked.
            """,
        aliases: ["show-id"])

    @Argument(help: ArgumentHelp("The key, or a credential.", valueName: "file"), completion: .file())
    var file: String

    func run() throws {
        switch try KeyFile(contentsOf: file) {
        case .cluster(let key):
            show(key.fingerprint, key.validUntil)
            let revocations = try Revocations(
                contentsOf: Revocations.path(besideKey: file), for: .clusterKey(key))
            for revocation in revocations.all {
                guard let time = revocations.time(of: revocation.name) else { continue }
                Console.output("revoked      \(revocation.name), what was issued until \(DayText.of(time))")
            }
            for revocation in revocations.ofOtherKeys {
                Console.output("left out     \(revocation.name), whom another cluster key has revoked")
            }
        case .credential(let credential):
            Console.output("credential   \(credential.person)")
            if let words = LimitWords.of(credential.person.limits) { Console.output("limits       \(words)") }
            show(credential.clusterFingerprint, credential.validUntil)
        }
    }

    private func show(_ fingerprint: String, _ validUntil: Date) {
        Console.output("fingerprint  \(fingerprint)")
        let word = validUntil > .now ? "valid until" : "expired on "
        Console.output("\(word)  \(DayText.of(validUntil))")
    }
}
