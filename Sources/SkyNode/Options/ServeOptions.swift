import ArgumentParser
import SkyCore

/// What a node keeps on its disk and in memory.
struct StorageOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Folder for jobs and their results. Default: /var/lib/skynode/NAME for root, ~/.local/state/skynode/NAME for "
                + "other users, and what systemd names (StateDirectory=) for a service.", valueName: "folder"),
        completion: .directory)
    var data: String?

    @Option(
        help: ArgumentHelp(
            """
            What that folder may hold: 500M, 20G. Above it the oldest jobs that have ended are deleted, and then new \
            tasks wait. Default: 20G.
            """, valueName: "size"))
    var dataLimit: SizeArgument?

    @Option(
        help: ArgumentHelp(
            """
            How much of that may be earlier results that answer later tasks of the same image and parameters; 0 for \
            none. Default: 1G.
            """, valueName: "size"))
    var cacheSize: SizeArgument?

    @Option(
        help: ArgumentHelp(
            """
            Pixels of other nodes' images, and for other nodes, that are kept in memory: 64M, 1G; 0 for none. Default: \
            128M, or a sixteenth of the memory where that is less.
            """, valueName: "size"))
    var pixelCache: SizeArgument?

    @Option(help: ArgumentHelp("Number of finished jobs to keep; older ones are deleted.", valueName: "n"))
    var keepJobs = JobRetention().count

    @Option(help: ArgumentHelp("Days after which finished jobs are deleted.", valueName: "n"))
    var keepDays = 30
}

/// What a node answers by HTTP.
struct HTTPOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Where to answer HTTP: health, metrics for Prometheus, nodes and jobs. Other addresses than this machine's own \
            need --http-token. `none` turns HTTP off. Default: \(Defaults.http) if the port is free.
            """, valueName: "host:port"))
    var http: String?

    @Option(
        name: .customLong("http-token"),
        help: ArgumentHelp(
            """
            A file with the bearer token, required for all paths except /healthz and /readyz. Without a token, HTTP is \
            read-only.
            """, valueName: "file"), completion: .file())
    var httpToken: String?

    @Option(
        name: .customLong("http-host"),
        help: ArgumentHelp(
            """
            A further name under which HTTP is answered, as that of a proxy or service; *.example.org for all below it. \
            Repeatable. IP addresses, localhost and the machine's own name always are.
            """, valueName: "name"))
    var httpHosts: [String] = []
}

/// How a node logs.
struct LogFormatOptions: ParsableArguments {
    @Option(
        name: .customLong("log-format"),
        help: "text for people, json for programs. Under systemd, text has priorities and no times.")
    var logFormat = OutputFormat.text
}
