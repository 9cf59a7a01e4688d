import Logging
import SkyCore
import SkyJobs
import Transport

/// All settings of `skynode serve`, each defined once. The flags take their names, defaults and help from here, the configuration
/// file and the variables take their keys, and docs/OPERATING.md takes its table.
enum ServeKeys {
    /// All keys, in the order of the table.
    static let all: [ConfigurationKey] = [
        name, listen.key, advertise, slots, workerMemory, readFolders, data, dataLimit, cacheSize, pixelCache,
        keepJobs.key,
        keepDays.key, copies.key, adoptAfter.key, stopGrace.key, handOver.key, clusterKey, acceptKey, certificate,
        privateKey,
        trustRoots, insecure, interface,
        multicast, noMulticast, join, http, httpToken, httpHost, logLevel.key, logFormat.key,
    ]

    /// Groups of keys that are alternatives. Setting one of them also decides about the others of its group.
    static let alternatives: [Set<String>] = [
        Set([clusterKey, certificate, privateKey, trustRoots, insecure].map(\.name)),
        Set([multicast, noMulticast].map(\.name)),
    ]

    // MARK: - The node

    static let name = ConfigurationKey(
        name: "name", unit: "text", fallback: "the host's name", purpose: "the node's name, for people",
        details: "The node's name, for people. Default: the host's.")

    static let listen = DefaultedKey(Defaults.daemon.description) { address in
        ConfigurationKey(
            name: "listen", unit: "HOST:PORT", placeholder: "host:port", fallback: address,
            purpose: "where other nodes and commands are accepted; port 0 is any",
            details: "Address to accept other nodes on; port 0 means any.")
    }

    static let advertise = ConfigurationKey(
        name: "advertise", unit: "HOST:PORT", placeholder: "host:port", fallback: "what it listens on",
        purpose: "the address that others are told", details: "Address others are told, where it differs.")

    static let slots = ConfigurationKey(
        name: "slots", unit: "tasks", placeholder: "n", fallback: "one for each processor that it may use",
        purpose: "tasks that may run at once",
        details: """
            Tasks that may run at once; 0 for a node that runs none, but keeps copies of the jobs of others and takes jobs. \
            Default: one for each processor that the node may use.
            """, canChange: true)

    static let workerMemory = ConfigurationKey(
        name: "worker-memory", unit: "bytes, as 4G", placeholder: "size",
        fallback: "the machine's or its control group's, by the slots; 2G at least",
        purpose: "address space of each worker process",
        details: """
            Memory (address space) that each worker process may have: 512M, 4G. Default: the machine's, or its control \
            group's, divided by the slots, and at least 2G.
            """)

    static let readFolders = ConfigurationKey(
        name: "read-folders", kind: .list, unit: "folders", placeholder: "folder",
        fallback: "everywhere, but no keys, journals, hidden and system files",
        purpose: "where images may be read",
        details: """
            Read images below this folder only. Repeatable. Default: everywhere, but no keys, journals, hidden files of \
            the home and files of the system.
            """)

    static let stopGrace = DefaultedKey(DurationArgument(.seconds(10))) { grace in
        ConfigurationKey(
            name: "stop-grace", unit: "a duration, as 30s", placeholder: "duration",
            fallback: grace.defaultValueDescription,
            purpose: "how long running tasks may go on when the node is to stop",
            details: "How long running tasks may go on when the node is to stop: 30s, 5m; 0s for not at all.",
            canChange: true)
    }

    // MARK: - What the node keeps on its disk and in memory

    static let data = ConfigurationKey(
        name: "data", unit: "a folder", placeholder: "folder",
        fallback: "/var/lib/skynode/NAME; of a user ~/.local/state/skynode/NAME", purpose: "jobs and their results",
        details: """
            Folder for jobs and their results. Default: /var/lib/skynode/NAME for root, ~/.local/state/skynode/NAME for \
            other users, and what systemd names (StateDirectory=) for a service.
            """)

    static let dataLimit = ConfigurationKey(
        name: "data-limit", unit: "bytes, as 20G", placeholder: "size",
        fallback: SizeArgument.argument(JournalLimits().bytes), purpose: "what that folder may hold",
        details: """
            What that folder may hold: 500M, 20G. Above it the oldest jobs that have ended are deleted, and then new \
            tasks wait.
            """, helpHasFallback: true, canChange: true)

    static let cacheSize = ConfigurationKey(
        name: "cache-size", unit: "bytes, as 1G", placeholder: "size",
        fallback: SizeArgument.argument(JournalLimits().cache),
        purpose: "how much of that may be earlier results that answer later tasks",
        details: """
            How much of that may be earlier results that answer later tasks of the same image and parameters; 0 for \
            none.
            """, helpHasFallback: true, canChange: true)

    static let pixelCache = ConfigurationKey(
        name: "pixel-cache", unit: "bytes, as 128M", placeholder: "size",
        fallback:
            "\(SizeArgument.argument(PixelStore.largestUsualLimit)), or a sixteenth of the memory where that is less",
        purpose: "pixels of other nodes' images that are kept in memory",
        details: "Pixels of other nodes' images, and for other nodes, that are kept in memory: 64M, 1G; 0 for none.",
        helpHasFallback: true)

    static let keepJobs = DefaultedKey(JobRetention().count) { count in
        ConfigurationKey(
            name: "keep-jobs", unit: "jobs", placeholder: "n", fallback: "\(count)",
            purpose: "number of finished jobs to keep; older ones are deleted", canChange: true)
    }

    static let keepDays = DefaultedKey(Int(JobRetention().age / .seconds(86_400))) { days in
        ConfigurationKey(
            name: "keep-days", unit: "days", placeholder: "n", fallback: "\(days)",
            purpose: "how long jobs that have ended are kept", details: "Days after which finished jobs are deleted.",
            canChange: true)
    }

    static let copies = DefaultedKey(CopyPolicy().copies) { count in
        ConfigurationKey(
            name: "copies", unit: "nodes", placeholder: "n", fallback: "\(count)",
            purpose: "other nodes that keep a copy of this node's jobs, and take them over when it is lost",
            details: """
                How many other nodes keep a copy of this node's jobs and results, and take them over when this machine is \
                lost: 2 survive the loss of one machine, 4 of two; 0 for none. All nodes should have the same value.
                """, canChange: true)
    }

    static let adoptAfter = DefaultedKey(DurationArgument(CopyPolicy().adoptAfter)) { time in
        ConfigurationKey(
            name: "adopt-after", unit: "a duration, as 5s", placeholder: "duration",
            fallback: time.defaultValueDescription,
            purpose: "how long a node is silent before others take its jobs over",
            details: "How long a node is silent before those that have copies take its jobs over: 5s, 1m.",
            canChange: true)
    }

    static let handOver = DefaultedKey(HandOver.drain) { when in
        ConfigurationKey(
            name: "hand-over", unit: "drain or stop", placeholder: "when", fallback: when.rawValue,
            purpose: "when others take this node's jobs over at once: when it is drained, or also each time it stops",
            details: """
                When other nodes take this node's jobs over at once: drain, when it is drained (skynode nodes drain); \
                stop, also each time that it stops, for a machine that is often away for long.
                """, canChange: true)
    }

    // MARK: - Who may take part

    static let clusterKey = ConfigurationKey(
        name: "cluster-key", unit: "a file", placeholder: "file",
        fallback: "a key in its usual place, or none: this machine only", purpose: "the key that all nodes have",
        details: """
            The cluster's key, the same file on every machine; only who has it takes part. Made by skynode key new. \
            Commands take a person's credential as well (skynode key issue). Default: the file that \(KeyChoice.variable) names, else ~/.config/skynode/cluster.key or \
            /etc/skynode/cluster.key where there is one.
            """)

    static let acceptKey = ConfigurationKey(
        name: "accept-key", kind: .list, unit: "files", placeholder: "file", fallback: "none",
        purpose: "during a key change, other keys whose nodes are accepted too",
        details: "During a key change: also accept nodes with this key. Repeatable.")

    static let certificate = ConfigurationKey(
        name: "tls-certificate", unit: "a PEM file", placeholder: "file", fallback: "none",
        purpose: "this node's certificate from your own PKI, instead of a key",
        details: "This node's certificate from your own PKI (PEM), instead of a cluster key.")

    static let privateKey = ConfigurationKey(
        name: "tls-private-key", unit: "a PEM file", placeholder: "file", fallback: "none", purpose: "its private key",
        details: "Its private key, PEM.")

    static let trustRoots = ConfigurationKey(
        name: "tls-trust-roots", unit: "a PEM file", placeholder: "file", fallback: "none",
        purpose: "the CAs trusted for other nodes", details: "The CAs trusted for other nodes (PEM).")

    static let insecure = ConfigurationKey(
        name: "insecure", kind: .flag, unit: "true or false", fallback: "false",
        purpose: "links to other machines without a key",
        details: """
            Allow links to other machines without a key: no encryption and no authentication, whoever reaches the node \
            can use it. For networks you trust.
            """)

    // MARK: - How the node finds others

    static let interface = ConfigurationKey(
        name: "interface", kind: .list, unit: "names or IPv4 addresses", placeholder: "name-or-address",
        fallback: "what fits listen", purpose: "interfaces to find others on",
        details: "Interface to find others on, by name or IPv4 address. Repeatable. Default: what fits --listen.")

    static let multicast = ConfigurationKey(
        name: "multicast", unit: "GROUP:PORT", placeholder: "group:port",
        fallback: "\(MulticastSettings().group):\(MulticastSettings().port)",
        purpose: "IPv4 multicast group and UDP port")

    static let noMulticast = ConfigurationKey(
        name: "no-multicast", kind: .flag, unit: "true or false", fallback: "false",
        purpose: "do not look for others by multicast")

    static let join = ConfigurationKey(
        name: "join", kind: .list, unit: "HOST:PORT each", placeholder: "host:port", fallback: "none",
        purpose: "nodes to connect to; retried for ever",
        details: "Address of a node to connect to; retried for ever. Repeatable.", canChange: true)

    // MARK: - HTTP and logs

    static let http = ConfigurationKey(
        name: "http", unit: "HOST:PORT, or none", placeholder: "host:port",
        fallback: "\(Defaults.http), if that port is free",
        purpose: "where health, metrics, nodes and jobs are told by HTTP",
        details: """
            Where to answer HTTP: health, metrics for Prometheus, nodes and jobs. Other addresses than this machine's own \
            need --http-token. `none` turns HTTP off. Default: \(Defaults.http) if the port is free.
            """)

    static let httpToken = ConfigurationKey(
        name: "http-token", unit: "a file", placeholder: "file",
        fallback: "none: this machine only, and reading only", purpose: "the bearer token of HTTP requests",
        details: """
            A file with the bearer token, required for all paths except /healthz and /readyz. Without a token, HTTP is \
            read-only.
            """)

    static let httpHost = ConfigurationKey(
        name: "http-host", kind: .list, unit: "host names, or *.DOMAIN", placeholder: "name",
        fallback: "IP addresses, localhost and the machine's own name",
        purpose: "further names under which HTTP is answered",
        details: """
            A further name under which HTTP is answered, as that of a proxy or service; *.example.org for all below it. \
            Repeatable. IP addresses, localhost and the machine's own name always are.
            """)

    static let logLevel = DefaultedKey(Logger.Level.notice) { level in
        ConfigurationKey(
            name: "log-level", unit: logLevels, placeholder: "level", fallback: level.rawValue,
            purpose: "what is logged", details: "\(logLevels).", canChange: true)
    }
    private static let logLevels = "trace, debug, info, notice, warning, error or critical"

    static let logFormat = DefaultedKey(OutputFormat.text) { format in
        ConfigurationKey(
            name: "log-format", unit: "text or json", fallback: format.rawValue,
            purpose: "how it is logged; under systemd, text has priorities and no times",
            details: "text for people, json for programs. Under systemd, text has priorities and no times.")
    }

    // MARK: - The list as a whole

    static func named(_ name: String) -> ConfigurationKey? { all.first { $0.name == name } }

    /// The key that was probably meant by `word`.
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
