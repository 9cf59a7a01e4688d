import ArgumentParser
import Foundation
import Transport

/// `skynode key show`: what can be said of a key without giving it away.
struct KeyShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a key's fingerprint and until when it is valid; nothing secret.",
        discussion: "Two machines are of one cluster if their keys have the same fingerprint.",
        aliases: ["show-id"])

    @Argument(help: ArgumentHelp("The key file.", valueName: "file"), completion: .file())
    var file: String

    func run() throws {
        let key = try ClusterKey(contentsOf: file)
        Console.output("fingerprint  \(key.fingerprint)")
        let word = key.validUntil > .now ? "valid until" : "expired on "
        Console.output("\(word)  \(DayText.of(key.validUntil))")
    }
}
