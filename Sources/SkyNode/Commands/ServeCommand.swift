import ArgumentParser
import Base
import Foundation
import Glibc
import Logging
import ServiceLifecycle
import SkyCore
import Transport
import UnixSignals

/// `skynode serve`: a node in the foreground, until SIGTERM or Ctrl-C.
struct ServeCommand: AsyncParsableCommand, ConfiguredCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run a node in the foreground.",
        discussion: """
            The first line on standard output is `skynode NAME listening on HOST:PORT`, and with --http the second one is \
            `skynode NAME answers HTTP on HOST:PORT`. SIGTERM or Ctrl-C makes the \
            node take no new work, let its tasks end for a while (--stop-grace), say goodbye to the others and stop; once \
            more stops it at once. SIGHUP makes it read its configuration again.

            Without a key (see skynode key) it accepts its own machine only.

            Each option is also a key of the configuration file and a variable: --worker-memory is worker-memory there and \
            SKYNODE_WORKER_MEMORY. Flags beat variables, and these beat the file.

            EXAMPLES:
              skynode serve                               for this machine
              skynode serve --listen 0.0.0.0:7420 --cluster-key cluster.key
              skynode serve --listen 0.0.0.0:7420 --join dome-1:7420 --slots 4
              skynode serve --config /etc/skynode/skynode.yaml --check-config
            """)

    @Option(
        help: ArgumentHelp(
            "Configuration in YAML. Default: the file that \(ConfigurationKey.fileVariable) names, or none.",
            valueName: "file"), completion: .file(extensions: ["yaml", "yml"]))
    var config: String?

    @Flag(name: .customLong("check-config"), help: "Say what is wrong with the configuration, and start nothing.")
    var checkConfig = false

    @Flag(name: .customLong("list-keys"), help: ArgumentHelp("The keys, as a table.", visibility: .hidden))
    var listKeys = false

    @Option(ServeKeys.name) var name: String?
    @Option(ServeKeys.listen) var listen: String
    @Option(ServeKeys.advertise) var advertise: String?
    @Option(ServeKeys.slots) var slots: Int?
    @Option(ServeKeys.workerMemory) var workerMemory: SizeArgument?
    @Option(ServeKeys.readFolders, completion: .directory) var readFolders: [String]
    @Option(ServeKeys.stopGrace) var stopGrace: DurationArgument
    @Option(ServeKeys.handOver) var handOver: HandOver

    @Flag(
        name: .customLong("allow-crash"),
        help: ArgumentHelp("Let rehearsed crashes kill this node.", visibility: .hidden))
    var allowCrash = false

    @Option(
        help: ArgumentHelp(
            "Rehearse a slow machine: simulated tasks take so many times as long here.", valueName: "n",
            visibility: .hidden))
    var slowness = 1

    @OptionGroup(title: HelpSection.storage) var storage: StorageOptions
    @OptionGroup(title: HelpSection.http) var web: HTTPOptions
    @OptionGroup(title: HelpSection.connection) var network: NetworkOptions
    @OptionGroup(title: HelpSection.log) var log: LogOptions
    @OptionGroup(title: HelpSection.log) var logFormatting: LogFormatOptions

    func run() async throws {
        if listKeys { return Console.output(ServeKeys.table) }
        let environment = ProcessInfo.processInfo.environment
        let source = ConfigurationSource<ServeCommand>(
            arguments: Array(CommandLine.arguments.dropFirst(2)), environment: environment,
            path: config ?? environment[ConfigurationKey.fileVariable].flatMap { $0.isEmpty ? nil : $0 })
        if checkConfig {
            let file = try source.check()
            for note in try source.read().command.notes() { Console.error("note: \(note)") }
            return Console.output(file.map { "\(PrintableText.of($0)): in order" } ?? "in order; there is no file")
        }
        let (command, configured) = try source.read()
        do {
            try await command.serve(Configured(source: source, arguments: configured))
        } catch let failure as CommandFailure {
            throw CommandFailure(failure.status, failure.message.map(configured.attributed))
        }
    }

    /// Where the options come from, to be asked again on SIGHUP.
    private struct Configured {
        let source: ConfigurationSource<ServeCommand>
        let arguments: ConfiguredArguments
    }

    private func serve(_ configured: Configured) async throws {
        // Other processes of this user, among them a worker that a file has taken over, can then neither read the key out of this
        // process's memory nor open its files below /proc. There are no core dumps either.
        ProcessLimits.hideMemory()
        let environment = configured.source.environment
        let threshold = ServiceLogHandler.Threshold(logLevel)
        let style: ServiceLogHandler.Style =
            logFormatting.logFormat == .json ? .json : Console.errorIsJournal(environment) ? .journal : .plain
        let logger = Logger(label: "skynode") { ServiceLogHandler(label: $0, style: style, threshold: threshold) }
        var settings = try settings(logger)
        let http = try httpService()
        settings.cluster.metrics = http?.metrics
        let journal: Journal
        let limits = try limits()
        let place = try self.journal(settings.cluster.name)
        do {
            journal = try await place.open(limits: limits)
        } catch {
            throw CommandFailure(.usage, PrintableText.of(error.message))
        }
        // Somebody may have made a folder above it before this node did.
        _ = try self.journal(settings.cluster.name)
        for gap in ConfinementSupport.ofThisMachine.gaps {
            logger.warning("workers are not confined as they should be", metadata: ["because": "\(gap)"])
        }
        settings.controlGroups = ControlGroups.takeOver()
        if let groups = settings.controlGroups {
            let shared = groups.shared.joined(separator: " ")
            logger.info(
                "workers get control groups of their own",
                metadata: ["below": "\(groups.folder)", "controllers": "\(shared)"])
        }
        let node = try Node(settings, journal: journal)
        let reloads = Reloads(
            configured.source, now: configured.arguments, grace: stopGrace.duration, handOver: handOver,
            slots: settings.slots, threshold: threshold)
        let service = NodeService(
            node: node, listen: try address(), notice: network.security.notice,
            http: http, manager: ServiceManager(environment: environment), grace: { reloads.grace },
            handsOver: { reloads.handOver == .stop },
            reload: { await reloads.reload($0) })
        var configuration = ServiceGroupConfiguration(
            services: [service], gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "lifecycle") { _ in SwiftLogNoOpLogHandler() })
        // The service itself ends in time; without limits a fault of it would keep the process for ever.
        configuration.maximumGracefulShutdownDuration = ServeCommand.longestGrace + .seconds(60)
        configuration.maximumCancellationDuration = .seconds(30)
        try await ServiceGroup(configuration: configuration).run()
    }

    private var logLevel: Logger.Level { log.logLevel ?? ServeKeys.logLevel.standard }

    private static let longestGrace = Duration.seconds(86_400)

    func changeable() throws -> NodeChange {
        let settings = try settings(Logger(label: "none") { _ in SwiftLogNoOpLogHandler() })
        return NodeChange(
            slots: settings.slots, retention: settings.retention, limits: try limits(), copies: settings.copies,
            revocations: settings.revocations, join: settings.cluster.join, grace: stopGrace.duration,
            handOver: handOver, logLevel: logLevel)
    }

    /// Checks what shows only when all settings are put together.
    func check() throws {
        do {
            _ = try changeable()
            _ = try httpService()
        } catch let error as SecurityError {
            throw named(error)
        }
    }

    /// All problems that `check` would stop at, one after the other, and the others that are known before a start.
    func problems() -> [String] {
        let checks: [() throws -> Void] = [
            { _ = try self.changeable() },
            { try self.network.security.checkReach(try self.address(), option: "--listen") },
            { try self.checkName() }, { _ = try self.advertised() }, { _ = try self.network.seeds() },
            { _ = try self.network.multicastSettings() }, { try self.network.checkInterfaces() },
            { _ = try self.network.security.nodeSecurity() },
            { _ = try SlotsArgument.check(self.slots ?? Defaults.slots) }, { _ = try self.limits() },
            { _ = try self.httpService() }, { try self.checkListening() },
            { _ = try self.dataFolder() }, { try self.checkMulticast() },
        ]
        var problems = numberProblems
        for check in checks {
            do {
                try check()
            } catch let failure as CommandFailure {
                problems.append(failure.message ?? "")
            } catch let error as SecurityError {
                problems.append(named(error).message ?? "")
            } catch let error as JournalError {
                problems.append(PrintableText.of(error.message))
            } catch {
                problems.append("\(error)")
            }
        }
        // Several checks stop at the same problem.
        var published: Set<String> = []
        return problems.filter { published.insert($0).inserted }
    }

    /// What answers HTTP; `nil` where nothing is to.
    private func httpService() throws -> HTTPService? {
        guard web.http != "none" else { return nil }
        let address =
            try web.http.map { try AddressArgument.parse($0, option: "--http", allowsPortZero: true) } ?? Defaults.http
        let token = try web.httpToken.map { path in
            let text = try SecretFile.secret(path).trimmingCharacters(in: .whitespacesAndNewlines)
            guard text.utf8.count >= 16, text.allSatisfy({ $0.isASCII && !$0.isWhitespace }) else {
                throw CommandFailure(
                    .usage,
                    "--http-token \(PrintableText.of(path)): a token has 16 letters or digits at least, and no spaces")
            }
            return text
        }
        guard address.isLoopback || token != nil else {
            throw CommandFailure(.usage, "--http \(address): beyond this machine, HTTP needs --http-token")
        }
        for name in web.httpHosts where !HostNames.isValid(name) {
            throw CommandFailure(
                .usage, "--http-host \(PrintableText.of(name)): not a host's name, which has no port and no blanks")
        }
        // The host where it is told to listen, and the host that others are told, are names of the node too.
        let own = [address, try advertised()].compactMap { address -> String? in
            guard case .hostPort(let host, _) = address, HostNames.isValid(host) else { return nil }
            return host
        }
        return HTTPService(
            address: address, isWanted: web.http != nil, token: token, hosts: HostNames(extra: web.httpHosts + own),
            metrics: MetricsRegistry())
    }

    /// What is in the data folder, which is looked at as a start does.
    private func dataFolder() throws -> (revocations: Revocations, isInUse: Bool) {
        try Node.check(journal(try checkName()), for: try network.security.nodeSecurity())
    }

    /// What a start would log, though it keeps nothing from starting.
    private func notes() throws -> [String] {
        let security = try network.security.nodeSecurity()
        let files = [
            ("the files beside the keys", try network.security.revocations(for: security)),
            ("the data folder", try dataFolder().revocations),
        ]
        return files.filter { !$0.1.ofOtherKeys.isEmpty }.map { file, revocations in
            let names = revocations.ofOtherKeys.map(\.name).joined(separator: ", ")
            return "in \(file) revocations are left out that are signed with another cluster key: \(names)"
        }
    }

    /// Checks whether a start could listen where it is to. A node that runs with this configuration has its ports until the start.
    private func checkListening() throws {
        let address = try address()
        let isInUse = (try? dataFolder().isInUse) ?? false
        if let error = ListenTrial.error(SOCK_STREAM, at: address, mayBeBusy: isInUse) {
            throw CommandFailure(.usage, "--listen: \(StartFailure.command(error, listen: address).message ?? "")")
        }
        guard let http = try httpService(), http.isWanted else { return }
        if case (.hostPort(let host, let port), .hostPort(let other, let httpPort)) = (address, http.address),
            port == httpPort, port != 0,
            host == other || !["0.0.0.0", "::"].allSatisfy({ $0 != host && $0 != other })
        {
            throw CommandFailure(.usage, "--http \(http.address): --listen has this port; give it another one")
        }
        if let error = ListenTrial.error(SOCK_STREAM, at: http.address, mayBeBusy: isInUse) {
            throw CommandFailure(
                .usage, "--http \(http.address): cannot be listened on: \(PrintableText.of("\(error)"))")
        }
    }

    /// Checks whether a start could hear the multicast group. Nodes share its port.
    private func checkMulticast() throws {
        guard let settings = try network.multicastSettings() else { return }
        let group = NodeAddress.hostPort(host: settings.group, port: settings.port)
        if let error = ListenTrial.error(SOCK_DGRAM, at: group) {
            throw StartFailure.command(MulticastError(group: "\(group)", reason: "\(error)"), listen: nil)
        }
    }

    private func address() throws -> NodeAddress {
        try AddressArgument.parse(listen, option: "--listen", allowsPortZero: true)
    }

    private func advertised() throws -> NodeAddress? {
        try advertise.map { try AddressArgument.parse($0, option: "--advertise", allowsPortZero: true) }
    }

    private func settings(_ logger: Logger) throws -> NodeSettings {
        let address = try address()
        try network.security.checkReach(address, option: "--listen")
        let name = try checkName()
        var cluster = ClusterSettings(name: name)
        cluster.version = SkyNetVersion.current
        cluster.listen = address
        cluster.advertise = try advertised()
        cluster.join = try network.seeds()
        cluster.multicast = try network.multicastSettings()
        cluster.security = try network.security.nodeSecurity()
        cluster.isLoopbackOnly = network.security.isLoopbackOnly
        cluster.logger = logger
        var settings = NodeSettings(
            cluster: cluster, slots: try SlotsArgument.check(slots ?? Defaults.slots), executable: Defaults.executable)
        settings.allowsCrash = allowCrash
        if let problem = numberProblems.first { throw CommandFailure(.usage, problem) }
        settings.retention.count = storage.keepJobs
        settings.retention.age = .seconds(storage.keepDays * 86_400)
        settings.copies.copies = storage.copies
        settings.copies.adoptAfter = storage.adoptAfter.duration
        settings.slowness = min(max(1, slowness), 1_000_000)
        if let pixelCache = storage.pixelCache { settings.toolMemory = pixelCache.count }
        if let workerMemory { settings.workerMemory = workerMemory.bytes }
        settings.reads.folders = readFolders.map(Defaults.absolute)
        settings.reads.secrets = secrets
        settings.revocations = try network.security.revocations(for: cluster.security)
        return settings
    }

    /// What no worker may read, wherever it may read: keys, the token, journals.
    private var secrets: [String] {
        (network.security.secrets + [web.httpToken, storage.data, Defaults.dataHome].compactMap(\.self)).map(
            Defaults.absolute)
    }

    @discardableResult
    private func checkName() throws -> String {
        let name = name ?? Defaults.name
        guard Hello.isValidName(name) else {
            throw CommandFailure(.usage, "--name: a name has 1 to \(Hello.nameLimit) bytes and no control characters")
        }
        return name
    }

    /// What is wrong with numbers.
    private var numberProblems: [String] {
        let checks = [
            (stopGrace.duration <= ServeCommand.longestGrace, "--stop-grace takes a day at most"),
            ((1...1_000_000).contains(storage.keepJobs), "--keep-jobs takes a number from 1 to 1000000"),
            ((1...36_500).contains(storage.keepDays), "--keep-days takes a number from 1 to 36500"),
            ([0, 1, 2, 4].contains(storage.copies), "--copies takes 0, 1, 2 or 4"),
            (
                (Duration.seconds(2)...Duration.seconds(3600)).contains(storage.adoptAfter.duration),
                "--adopt-after takes 2s to 1h"
            ),
            (
                workerMemory.map { $0.bytes >= ProcessLimits.leastAddressSpace } ?? true,
                "--worker-memory: a worker process needs at least 512M"
            ),
        ]
        return checks.filter { !$0.0 }.map(\.1)
    }

    /// A complaint about a file of keys with the option that names it.
    private func named(_ error: SecurityError) -> CommandFailure {
        let files =
            network.security.files
            + [("--http-token", web.httpToken)].compactMap { name, path in path.map { (name, $0) } }
        let option = files.first { error.description.hasPrefix(PrintableText.of($0.1)) }?.0
        return CommandFailure(.usage, (option.map { "\($0): " } ?? "") + error.description)
    }

    private func limits() throws(CommandFailure) -> JournalLimits {
        var limits = JournalLimits()
        if let dataLimit = storage.dataLimit { limits.bytes = dataLimit.count }
        limits.cache = storage.cacheSize?.count ?? min(limits.cache, limits.bytes / 2)
        guard limits.bytes >= 1 << 20 else { throw CommandFailure(.usage, "--data-limit: a journal needs at least 1M") }
        guard limits.cache <= limits.bytes / 2 else {
            throw CommandFailure(
                .usage, "--cache-size: earlier results may take half of what --data-limit allows at most")
        }
        return limits
    }

    /// Where the journal is. A folder that was asked for is used or refused; of the usual folders the first is taken that no other
    /// node uses.
    private func journal(_ name: String) throws(CommandFailure) -> JournalPlace {
        if let folder = storage.data { return .folder(Defaults.absolute(folder)) }
        guard let home = Defaults.dataHome else {
            throw CommandFailure(.usage, "this user has no home for jobs and their results: name a folder by --data")
        }
        if let objection = FolderTrust.objection(to: home) {
            throw CommandFailure(
                .usage,
                PrintableText.of("\(home) is not safe for jobs and their results: \(objection); name another by --data")
            )
        }
        return .firstFree(home + "/" + Defaults.fileName(name))
    }
}
