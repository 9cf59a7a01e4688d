import ArgumentParser
import Glibc
import Logging
import ServiceLifecycle
import SkyCore
import Transport
import UnixSignals

/// `skynode serve`: a node in the foreground, until SIGTERM or Ctrl-C.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run a node in the foreground.",
        discussion: """
            The first line on standard output is `skynode NAME listening on HOST:PORT`. SIGTERM or Ctrl-C makes the \
            node say goodbye to the others and stop.
            """)

    @Option(help: "The node's name, for people. Default: the host's.")
    var name: String?

    @Option(help: ArgumentHelp("Address to accept other nodes on; port 0 means any.", valueName: "host:port"))
    var listen = Defaults.daemon.description

    @Option(help: ArgumentHelp("Address others are told, where it differs.", valueName: "host:port"))
    var advertise: String?

    @Option(help: ArgumentHelp("Tasks that may run at once. Default: one a core.", valueName: "n"))
    var slots: Int?

    @Option(
        help: ArgumentHelp(
            """
            Memory (address space) that each worker process may have: 512M, 4G. Default: the machine's, or its control \
            group's, divided by the slots, and at least 2G.
            """, valueName: "size"))
    var workerMemory: SizeArgument?

    @Option(
        help: ArgumentHelp(
            "Folder for jobs and their results. Default: \(Defaults.dataHome)/NAME.", valueName: "folder"))
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

    @Option(help: ArgumentHelp("Jobs that have ended, of which the oldest are deleted beyond it.", valueName: "n"))
    var keepJobs = JobRetention().count

    @Option(help: ArgumentHelp("Days after which jobs that have ended are deleted.", valueName: "n"))
    var keepDays = 30

    @Flag(
        name: .customLong("allow-crash"),
        help: ArgumentHelp("Let rehearsed crashes kill this node.", visibility: .hidden))
    var allowCrash = false

    @Option(
        help: ArgumentHelp(
            "Rehearse a slow machine: simulated tasks take so many times as long here.", valueName: "n",
            visibility: .hidden))
    var slowness = 1

    @OptionGroup var network: NetworkOptions
    @OptionGroup var log: LogOptions

    func run() async throws {
        let logger = log.logger("skynode", default: .notice)
        let settings = try settings(logger)
        let journal: Journal
        let limits = try limits()
        do {
            journal = try await self.journal(settings.cluster.name).open(limits: limits)
        } catch {
            throw CommandFailure(.usage, PrintableText.of(error.message))
        }
        let node = Node(settings, journal: journal)
        let group = ServiceGroup(
            configuration: .init(
                services: [NodeService(node: node, listen: try address(), notice: network.security.notice)],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: Logger(label: "lifecycle") { _ in SwiftLogNoOpLogHandler() }))
        try await group.run()
    }

    private func address() throws -> NodeAddress {
        try AddressArgument.parse(listen, option: "--listen", allowsPortZero: true)
    }

    private func settings(_ logger: Logger) throws -> NodeSettings {
        let address = try address()
        try network.security.checkReach(address, option: "--listen")
        let name = name ?? Defaults.name
        guard Hello.isValidName(name) else {
            throw CommandFailure(.usage, "--name: a name has 1 to \(Hello.nameLimit) bytes and no control characters")
        }
        var cluster = ClusterSettings(name: name)
        cluster.version = SkyNetVersion.current
        cluster.listen = address
        cluster.advertise = try advertise.map {
            try AddressArgument.parse($0, option: "--advertise", allowsPortZero: true)
        }
        cluster.join = try network.seeds()
        cluster.multicast = try network.multicastSettings()
        cluster.security = try network.security.transportSecurity()
        cluster.isLoopbackOnly = network.security.isLoopbackOnly
        cluster.logger = logger
        var settings = NodeSettings(
            cluster: cluster, slots: try SlotsArgument.check(slots ?? Defaults.slots), executable: Defaults.executable)
        settings.allowsCrash = allowCrash
        guard (1...1_000_000).contains(keepJobs) else {
            throw CommandFailure(.usage, "--keep-jobs takes a number from 1 to 1000000")
        }
        guard (1...36_500).contains(keepDays) else {
            throw CommandFailure(.usage, "--keep-days takes a number from 1 to 36500")
        }
        settings.retention.count = keepJobs
        settings.retention.age = .seconds(keepDays * 86_400)
        settings.slowness = min(max(1, slowness), 1_000_000)
        if let pixelCache { settings.pixelCache = pixelCache.count }
        if let workerMemory {
            guard workerMemory.bytes >= WorkerPool.leastMemory else {
                throw CommandFailure(.usage, "--worker-memory: a worker process needs at least 512M")
            }
            settings.workerMemory = workerMemory.bytes
        }
        return settings
    }

    private func limits() throws(CommandFailure) -> JournalLimits {
        var limits = JournalLimits()
        if let dataLimit { limits.bytes = dataLimit.count }
        limits.cache = cacheSize?.count ?? min(limits.cache, limits.bytes / 2)
        guard limits.bytes >= 1 << 20 else { throw CommandFailure(.usage, "--data-limit: a journal needs at least 1M") }
        guard limits.cache <= limits.bytes / 2 else {
            throw CommandFailure(
                .usage, "--cache-size: earlier results may take half of what --data-limit allows at most")
        }
        return limits
    }

    /// A folder that was asked for is used or refused; of the usual ones the first that no other node uses.
    private func journal(_ name: String) -> JournalPlace {
        if let folder = data ?? Defaults.environment("SKYNODE_DATA") { return .folder(Defaults.absolute(folder)) }
        return .firstFree(Defaults.absolute(Defaults.dataHome) + "/" + Defaults.fileName(name))
    }
}
