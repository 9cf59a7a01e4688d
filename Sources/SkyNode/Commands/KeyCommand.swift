import ArgumentParser

/// `skynode key`: the secret that makes nodes one cluster.
struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Make or look at a cluster key.",
        discussion: """
            One file, the same on every machine, lets nodes and commands into the cluster and keeps everybody else \
            out. Whoever has a copy can use every node: keep it as you keep an SSH private key.
            """,
        subcommands: [KeyNewCommand.self, KeyShowCommand.self])
}
