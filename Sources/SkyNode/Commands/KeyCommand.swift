import ArgumentParser

/// `skynode key`: the secret that makes nodes one cluster.
struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Make or look at a cluster key.",
        discussion: """
            One file, the same on every machine, lets nodes and commands into the cluster and keeps everybody else \
            out. Whoever has a copy can use every node: keep it as you keep an SSH private key.

            EXAMPLES:
              skynode key new > cluster.key               make one, on one machine
              scp -p cluster.key dome-2:                  copy it to every other
              skynode key show cluster.key                the same everywhere?
            """,
        subcommands: [KeyNewCommand.self, KeyShowCommand.self])
}
