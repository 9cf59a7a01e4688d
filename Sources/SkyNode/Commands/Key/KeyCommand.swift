import ArgumentParser

/// `skynode key`: the secret that makes nodes one cluster.
struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Make or look at a cluster key, and credentials under it.",
        discussion: """
            One file, the same on every machine, lets nodes and commands into the cluster and keeps everybody else \
            out. Whoever has a copy can use every node and be one: keep it as you keep an SSH private key. People who \
            only have work done get credentials of their own, which can be taken back.

            EXAMPLES:
              skynode key new > cluster.key               make one, on one machine
              scp -p cluster.key dome-2:                  copy it to every other
              skynode key show cluster.key                the same everywhere?
              skynode key issue alice > laptop.pem        for a person, instead of the key
              skynode key revoke alice                    take that back
            """,
        subcommands: [KeyNewCommand.self, KeyIssueCommand.self, KeyRevokeCommand.self, KeyShowCommand.self])
}
