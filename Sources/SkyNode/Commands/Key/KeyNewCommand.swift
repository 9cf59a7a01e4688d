import ArgumentParser
import Base
import Foundation
import Transport

/// `skynode key new`: a key unlike any other.
struct KeyNewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Make a cluster key.",
        discussion: """
            `skynode key new > cluster.key` writes it to standard output, and closes that file to other users, \
            whatever the umask. Copy it to every machine, for example with scp -p, and start nodes and commands with \
            --cluster-key cluster.key.
            """)

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("File to write instead; it must not exist.", valueName: "file"), completion: .file())
    var output: String?

    func run() throws {
        let key = try ClusterKey.make(now: .now)
        if let file = try KeyOutput.write(key.pem, to: output) {
            Console.output("wrote \(PrintableText.of(file)), readable by you alone")
        } else if KeyOutput.isTerminal {
            Console.error(
                "skynode: that is the secret of a new cluster; to keep one in a file: skynode key new > cluster.key "
                    + "(it gets mode 600; after copying it by hand: chmod 600 cluster.key)")
        }
    }
}
