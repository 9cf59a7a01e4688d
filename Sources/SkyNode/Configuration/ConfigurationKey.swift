import SkyCore
import Transport

/// One thing that `skynode serve` can be told: by a flag, by an environment variable, or in the configuration file.
struct ConfigurationKey: Sendable {
    /// How it is written in the file.
    enum Kind: Sendable {
        /// `slots: 4`
        case value
        /// `join: [one:7420, two:7420]`
        case list
        /// `insecure: true`
        case flag
    }

    /// In the file; with two dashes in front the flag.
    let name: String
    let kind: Kind
    /// What is to be given, with its unit.
    let unit: String
    /// What holds where nothing is said.
    let fallback: String
    /// What it is for, in a line.
    let purpose: String
    /// Whether SIGHUP makes a running node take it over.
    var canChange = false

    /// The environment variable.
    var variable: String { "SKYNODE_" + name.uppercased().split(separator: "-").joined(separator: "_") }

    /// Those of which one stands for all: who gives one of them says nothing of the others, but means them.
    static let alternatives: [Set<String>] = [
        ["cluster-key", "tls-certificate", "tls-private-key", "tls-trust-roots", "insecure"],
        ["multicast", "no-multicast"],
    ]

    static let all: [ConfigurationKey] = [
        ConfigurationKey(
            name: "name", kind: .value, unit: "text", fallback: "the host's name",
            purpose: "the node's name, for people"),
        ConfigurationKey(
            name: "listen", kind: .value, unit: "HOST:PORT", fallback: Defaults.daemon.description,
            purpose: "where other nodes and commands are accepted; port 0 is any"),
        ConfigurationKey(
            name: "advertise", kind: .value, unit: "HOST:PORT", fallback: "what it listens on",
            purpose: "the address that others are told"),
        ConfigurationKey(
            name: "slots", kind: .value, unit: "tasks", fallback: "one a core", purpose: "tasks that may run at once",
            canChange: true),
        ConfigurationKey(
            name: "worker-memory", kind: .value, unit: "bytes, as 4G",
            fallback: "the machine's or its control group's, by the slots; 2G at least",
            purpose: "address space of each worker process"),
        ConfigurationKey(
            name: "data", kind: .value, unit: "a folder",
            fallback: "/var/lib/skynode/NAME; of a user ~/.local/state/skynode/NAME",
            purpose: "jobs and their results"),
        ConfigurationKey(
            name: "data-limit", kind: .value, unit: "bytes, as 20G", fallback: "20G",
            purpose: "what that folder may hold",
            canChange: true),
        ConfigurationKey(
            name: "cache-size", kind: .value, unit: "bytes, as 1G", fallback: "1G",
            purpose: "how much of that may be earlier results that answer later tasks", canChange: true),
        ConfigurationKey(
            name: "pixel-cache", kind: .value, unit: "bytes, as 128M",
            fallback: "128M, or a sixteenth of the memory where that is less",
            purpose: "pixels of other nodes' images that are kept in memory"),
        ConfigurationKey(
            name: "keep-jobs", kind: .value, unit: "jobs", fallback: "\(JobRetention().count)",
            purpose: "number of finished jobs to keep; older ones are deleted", canChange: true),
        ConfigurationKey(
            name: "keep-days", kind: .value, unit: "days", fallback: "30",
            purpose: "how long jobs that have ended are kept", canChange: true),
        ConfigurationKey(
            name: "stop-grace", kind: .value, unit: "a duration, as 30s", fallback: "10s",
            purpose: "how long running tasks may go on when the node is to stop", canChange: true),
        ConfigurationKey(
            name: "cluster-key", kind: .value, unit: "a file",
            fallback: "a key in its usual place, or none: this machine only",
            purpose: "the key that all nodes have"),
        ConfigurationKey(
            name: "accept-key", kind: .list, unit: "files", fallback: "none",
            purpose: "during a key change, other keys whose nodes are accepted too"),
        ConfigurationKey(
            name: "tls-certificate", kind: .value, unit: "a PEM file", fallback: "none",
            purpose: "this node's certificate from your own PKI, instead of a key"),
        ConfigurationKey(
            name: "tls-private-key", kind: .value, unit: "a PEM file", fallback: "none", purpose: "its private key"),
        ConfigurationKey(
            name: "tls-trust-roots", kind: .value, unit: "a PEM file", fallback: "none",
            purpose: "the CAs trusted for other nodes"),
        ConfigurationKey(
            name: "insecure", kind: .flag, unit: "true or false", fallback: "false",
            purpose: "links to other machines without a key"),
        ConfigurationKey(
            name: "interface", kind: .list, unit: "names or IPv4 addresses", fallback: "what fits listen",
            purpose: "interfaces to find others on"),
        ConfigurationKey(
            name: "multicast", kind: .value, unit: "GROUP:PORT",
            fallback: "\(MulticastSettings().group):\(MulticastSettings().port)",
            purpose: "IPv4 multicast group and UDP port"),
        ConfigurationKey(
            name: "no-multicast", kind: .flag, unit: "true or false", fallback: "false",
            purpose: "do not look for others by multicast"),
        ConfigurationKey(
            name: "join", kind: .list, unit: "HOST:PORT each", fallback: "none",
            purpose: "nodes to connect to; retried for ever", canChange: true),
        ConfigurationKey(
            name: "http", kind: .value, unit: "HOST:PORT, or none", fallback: "\(Defaults.http), if that port is free",
            purpose: "where health, metrics, nodes and jobs are told by HTTP"),
        ConfigurationKey(
            name: "http-token", kind: .value, unit: "a file", fallback: "none: this machine only, and reading only",
            purpose: "the bearer token of HTTP requests"),
        ConfigurationKey(
            name: "http-host", kind: .list, unit: "host names, or *.DOMAIN",
            fallback: "IP addresses, localhost and the machine's own name",
            purpose: "further names under which HTTP is answered"),
        ConfigurationKey(
            name: "log-level", kind: .value, unit: "trace, debug, info, notice, warning, error or critical",
            fallback: "notice", purpose: "what is logged", canChange: true),
        ConfigurationKey(
            name: "log-format", kind: .value, unit: "text or json", fallback: "text",
            purpose: "how it is logged; under systemd, text has priorities and no times"),
    ]

    /// The variable that stands for `--config`.
    static let fileVariable = "SKYNODE_CONFIG"

    static func named(_ name: String) -> ConfigurationKey? { all.first { $0.name == name } }

    /// The key that somebody who wrote `word` probably meant.
    static func nearest(to word: String) -> ConfigurationKey? {
        let word = String(word.lowercased().prefix(64)).replacing("_", with: "-")
        let found = all.map { ($0, EditDistance.between(word, $0.name)) }.min { $0.1 < $1.1 }
        guard let (key, distance) = found, distance <= max(2, word.count / 3) else { return nil }
        return key
    }

    /// The table in docs/OPERATING.md.
    static var table: String {
        let rows = all.map { key in
            let cells = [
                "`\(key.name)`", key.purpose, key.unit, key.fallback, key.canChange ? "yes" : "no",
            ]
            return "| " + cells.joined(separator: " | ") + " |"
        }
        return (["| key | what for | unit | default | by SIGHUP |", "|---|---|---|---|---|"] + rows).joined(
            separator: "\n")
    }
}
