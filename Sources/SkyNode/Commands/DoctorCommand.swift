import ArgumentParser
import Base
import NIOCore
import SkyCore
import Transport

/// `skynode doctor`: why a node is not seen.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Find out what keeps nodes from seeing each other.",
        discussion: """
            Run it on a machine whose node is missing, and on one that misses it, with the options that the node was \
            started with. It looks at the key, at this machine's node, at every interface (can it send multicast and hear \
            it?), asks all nodes of the group to answer, compares clocks, and dials every address that it hears of.

            Each line is ok, a note (which may be as it is meant to be) or a problem, with what to do about it below. \
            The exit code is 0 without a problem and 1 with one.

            EXAMPLES:
              skynode doctor
              skynode doctor --cluster-key cluster.key --interface eth0
              skynode doctor --join dome-1:7420           can it be reached from here?
            """)

    @Option(help: ArgumentHelp("The node of this machine.", valueName: "host:port"))
    var node: String?

    @Option(
        help: ArgumentHelp(
            "How long to listen, 5 to 600; nodes say who they are every few seconds.", valueName: "seconds"))
    var seconds = 6

    @OptionGroup(title: HelpSection.connection) var network: NetworkOptions
    @OptionGroup(title: HelpSection.connection) var log: LogOptions

    @OptionGroup var display: DisplayOptions

    var format: OutputFormat { display.format }

    func run() async throws {
        guard (5...600).contains(seconds) else { throw CommandFailure(.usage, "--seconds takes 5 to 600") }
        let findings = try await examine().findings
        for finding in findings {
            switch format {
            case .json: Console.output(try JSONLine.encode(finding))
            case .text: for line in finding.lines(Console.outputStyle) { Console.output(line) }
            }
        }
        if findings.contains(where: { $0.level == .problem }) { throw CommandFailure(.partlyFailed) }
    }

    private func examine() async throws -> Examination {
        let address =
            try NodePlace.find(option: node)?.address() ?? Defaults.daemon
        try network.security.checkReach(address, option: "--node")
        let seeds = try network.seeds()
        var settings = ClusterSettings(name: "skynode")
        settings.role = .client
        settings.security = try network.security.transportSecurity()
        settings.isLoopbackOnly = network.security.isLoopbackOnly
        settings.logger = log.logger("skynode", default: .critical)
        let multicast = try network.multicastSettings()
        let heard = try await survey(multicast, settings)

        let system = ClusterSystem(settings)
        try await system.start()
        var examination = Examination(
            protection: network.security.protection, address: address, own: .absent, multicast: heard,
            settings: multicast ?? MulticastSettings(), trials: [:], firewall: .find(), seconds: seconds,
            confinement: .ofThisMachine, processors: .ofThisProcess)
        if case .credential(let credential) = settings.security { examination.person = credential.person }
        let trials = LinkTrials(system: system)
        examination.own = await own(at: address, trials)
        if case .answers(let node, _, _) = examination.own {
            (examination.copies, examination.room, examination.storageFault) = await trials.storage(of: node)
        }
        var addresses = seeds
        if case .survey(let survey) = heard {
            for address in survey.neighbours.values.flatMap(\.addresses) where !addresses.contains(address) {
                addresses.append(address)
            }
        }
        examination.trials = await trials.run(addresses, seeds: Set(seeds))
        await system.shutdown()
        return examination
    }

    private func survey(_ multicast: MulticastSettings?, _ settings: ClusterSettings) async throws
        -> Examination.Multicast
    {
        guard let multicast else { return .off }
        if Console.errorIsTerminal { Console.error("listening for \(seconds) s") }
        do {
            return .survey(
                try await NetworkSurveyor.survey(
                    multicast, cluster: settings.cluster, security: settings.security,
                    isLoopbackOnly: settings.isLoopbackOnly, listening: .seconds(seconds)))
        } catch let error as NetworkInterfaceError {
            throw CommandFailure(.usage, "--interface: \(error)")
        } catch let error as IOError {
            let reason = error.errnoCode == 98 ? "the port is busy" : error.description
            return .portTaken(reason: reason, owners: PortOwner.find(.udp, port: multicast.port))
        }
    }

    private func own(at address: NodeAddress, _ trials: LinkTrials) async -> Examination.OwnNode {
        do {
            let hello = try await trials.system.join(address)
            return .answers(hello.node, name: hello.name, members: await trials.members(of: hello.node) ?? [])
        } catch {
            let reason = PrintableText.of(ClusterSession.reason(error))
            if reason == "connection refused" { return .absent }
            guard case .hostPort(_, let port) = address, address.isLoopback else {
                return .stranger(reason: reason, cause: LinkCause(error), owners: [])
            }
            return .stranger(reason: reason, cause: LinkCause(error), owners: PortOwner.find(.tcp, port: port))
        }
    }
}
