import ArgumentParser
import Logging
import Testing

@testable import SkyCore
@testable import SkyJobs
@testable import SkyNode
@testable import Transport

/// Which node a command uses, which cluster it belongs to, and which of these options contradict each other.
struct ClusterOptionsTests {
    private func complaint(_ check: () throws -> Void) -> String? {
        do {
            try check()
            return nil
        } catch let failure as CommandFailure where failure.status == .usage {
            return failure.message
        } catch {
            return "\(error)"
        }
    }

    private func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

    // MARK: - Which node

    @Test(
        arguments: [
            ("", nil), ("--node 127.0.0.1:7420", nil), ("--alone", nil), ("--alone --slots 2", nil),
            ("--slots 0", "--slots 0: a node inside a command has 1 to 1024 slots"),
            (
                "--node 127.0.0.1:7420 --slots 2",
                "--node and --slots contradict each other: one uses a node that runs"
            ),
            (
                "--alone --node 127.0.0.1:7420",
                "--alone and --node contradict each other: one names another node"
            ),
            (
                "--alone --join 127.0.0.1:7420",
                "--alone and --join contradict each other: one names another node"
            ),
            ("--node 127.0.0.1:0", "--node 127.0.0.1:0: port 0 cannot be connected to"),
            ("--multicast 239.0.0.1:5 --no-multicast", "--multicast and --no-multicast contradict each other"),
        ] as [(String, String?)])
    func `options that name two nodes contradict each other`(line: String, expected: String?) throws {
        let options = try ClusterOptions.parse(words(line))
        #expect(complaint { try options.check() } == expected)
    }

    @Test func `a lost node is waited for as long as the option says, or two minutes`() throws {
        #expect(try ClusterOptions.parse([]).patience.duration == Defaults.patience)
        let options = try ClusterOptions.parse(words("--reconnect-for 5s --format json"))
        #expect(options.patience.duration == .seconds(5) && options.format == .json && options.slots == nil)
        #expect(throws: (any Error).self) { try ClusterOptions.parse(words("--reconnect-for 5")) }
        let asked = try NodeOptions.parse(words("--node dome:7420"))
        #expect(asked.node == "dome:7420" && asked.format == .text)
    }

    @Test func `--detach contradicts a node inside the command`() throws {
        let cluster = try ClusterOptions.parse(words("--slots 2"))
        let flags = try SubmissionFlags.parse(["--detach"])
        #expect(
            complaint { try flags.check(cluster) }
                == "--detach and --slots contradict each other: the node inside this command ends with it")
        #expect(complaint { try flags.check(ClusterOptions.parse([])) } == nil)
        #expect(complaint { try SubmissionFlags.parse([]).check(cluster) } == nil)
    }

    @Test(arguments: [
        "", "--node dome:7420 --cluster-key k --accept-key a --accept-key b", "--node dome:7420 --insecure",
        "--node dome:7420 --tls-certificate a --tls-private-key b --tls-trust-roots c",
        "--cluster-key k --interface lo --interface eth9 --multicast 239.1.2.3:4567", "--no-multicast",
    ])
    func `the command for going on with a job has the same connection options`(line: String) throws {
        let options = try ClusterOptions.parse(words(line + " --log-level debug --reconnect-for 5s"))
        #expect(options.connection(environment: [:]) == words(line))
        let next = try NodeOptions.parse(words(line))
        #expect(next.node == options.node && next.network.security.words == options.network.security.words)
    }

    @Test func `the options of discovery are not repeated when a node is named`() throws {
        let found = "--interface lo --multicast 239.1.2.3:4567"
        let options = try ClusterOptions.parse(words("--node dome:7420 \(found) --no-multicast"))
        #expect(options.connection(environment: [:]) == ["--node", "dome:7420"])
        let variable = try ClusterOptions.parse(words(found + " --insecure"))
        #expect(variable.connection(environment: [NodePlace.variable: "dome:7420"]) == ["--insecure"])
    }

    @Test func `the flags of a job say how it is treated`() throws {
        var job = JobRequest(.simulate(SimulateRequest(tasks: 1, duration: .zero)))
        let usual = job.taskTimeLimit
        try JobFlags.parse([]).apply(to: &job)
        #expect(job.options == JobOptions() && job.deadline == nil && job.taskTimeLimit == usual)
        #expect(job.allowedFailures == nil)
        try JobFlags.parse(
            words("--priority 5 --retries 0 --allow-failures 2 --time-limit 90s --deadline 2h")
                + words("--use-node anna --use-node bo --avoid-node cleo")
        ).apply(to: &job)
        #expect(job.options.priority == 5 && job.options.retries == 0 && job.allowedFailures == 2)
        #expect(job.taskTimeLimit == .seconds(90) && job.deadline == .seconds(7200))
        #expect(job.options.use == ["anna", "bo"] && job.options.avoid == ["cleo"])
    }

    // MARK: - The network

    @Test func `other nodes are found by multicast unless that is switched off`() throws {
        let usual = try #require(try NetworkOptions.parse([]).multicastSettings())
        #expect(usual.group == MulticastSettings().group && usual.interfaces.isEmpty)
        let own = try NetworkOptions.parse(words("--multicast 239.1.2.3:4567 --interface lo --interface eth9"))
        let settings = try #require(try own.multicastSettings())
        #expect(settings.port == 4567 && settings.interfaces == ["lo", "eth9"])
        #expect(try NetworkOptions.parse(["--no-multicast"]).multicastSettings() == nil)
        for group in ["10.0.0.1:5", "239.1.2.3", "239.1.2.3:0", "everybody"] {
            let options = try NetworkOptions.parse(["--multicast", group])
            #expect(
                complaint { _ = try options.multicastSettings() }?.hasPrefix(
                    "--multicast \(group): not an IPv4 multicast group with a port, such as ") == true)
        }
    }

    @Test func `an interface is one of this machine, by name or address`() throws {
        try NetworkOptions.parse(words("--interface lo --interface 127.0.0.1")).checkInterfaces()
        for name in ["nosuch0", "192.0.2.77"] {
            let options = try NetworkOptions.parse(words("--interface \(name)"))
            #expect(
                complaint { try options.checkInterfaces() }?.hasPrefix("--interface \(name): no interface \"\(name)\"")
                    == true)
        }
    }

    @Test func `seeds are addresses that can be connected to`() throws {
        let options = try NetworkOptions.parse(words("--join 127.0.0.1:7420 --join [::1]:7421 --insecure"))
        #expect(
            try options.seeds() == [.hostPort(host: "127.0.0.1", port: 7420), .hostPort(host: "::1", port: 7421)])
        for seed in ["dome", "dome:0", "7420"] {
            let options = try NetworkOptions.parse(["--insecure", "--join", seed])
            #expect(complaint { _ = try options.seeds() }?.hasPrefix("--join \(seed): ") == true, "\(seed)")
        }
    }

    @Test func `a command logs at the level of its option`() throws {
        let levels = try ["", "--log-level debug"].map {
            try LogOptions.parse(words($0)).logger("test", default: .warning).logLevel
        }
        #expect(levels == [.warning, .debug])
    }

    // MARK: - Who may take part

    @Test(arguments: [
        (
            "--tls-certificate a --tls-private-key b",
            "--tls-certificate, --tls-private-key and --tls-trust-roots belong together; give all three"
        ),
        (
            "--cluster-key k --tls-certificate a --tls-private-key b --tls-trust-roots c",
            "--cluster-key and --tls-certificate contradict each other; give one of them"
        ),
        (
            "--tls-certificate a --tls-private-key b --tls-trust-roots c --accept-key k",
            "--accept-key goes with --cluster-key: a node has one key of its own"
        ),
        ("--insecure --cluster-key k", "--insecure and --cluster-key contradict each other; leave one out"),
        (
            "--insecure --tls-certificate a --tls-private-key b --tls-trust-roots c",
            "--insecure and --tls-certificate contradict each other; leave one out"
        ),
    ])
    func `two kinds of protection contradict each other`(line: String, expected: String) throws {
        let options = try SecurityOptions.parse(words(line))
        #expect(complaint { _ = try options.transportSecurity() } == expected)
    }

    @Test func `other machines can be reached with a key or with --insecure`() throws {
        let other = NodeAddress.hostPort(host: "10.0.0.1", port: 7420)
        for line in ["--cluster-key k", "--insecure", "--tls-certificate a"] {
            let options = try SecurityOptions.parse(words(line))
            #expect(!options.isLoopbackOnly)
            #expect(complaint { try options.checkReach(other, option: "--node") } == nil, "\(line)")
        }
        #expect(try SecurityOptions.parse(["--insecure"]).notice?.hasPrefix("links are neither encrypted nor") == true)
        #expect(try SecurityOptions.parse(words("--cluster-key k")).notice == nil)
    }

    /// Whether no key lies in its usual place, which is taken where nothing is said.
    private static let isKeyless = (try? SecurityOptions.parse([]).key) == nil

    @Test(.enabled(if: isKeyless, "a key lies in its usual place"))
    func `links stay within this machine without a key`() throws {
        let options = try SecurityOptions.parse([])
        #expect(options.isLoopbackOnly && options.protection == .none)
        #expect(complaint { try options.checkReach(.hostPort(host: "127.0.0.1", port: 1), option: "--node") } == nil)
        let words = complaint { try options.checkReach(.hostPort(host: "10.0.0.1", port: 1), option: "--node") }
        #expect(
            words?.hasPrefix("--node 10.0.0.1:1: without a key, links stay within this machine; make a key") == true)
        #expect(options.notice?.hasPrefix("no key: this node accepts its own machine only") == true)
        let accepting = try SecurityOptions.parse(self.words("--accept-key k"))
        #expect(
            complaint { _ = try accepting.transportSecurity() }
                == "--accept-key goes with --cluster-key: a node has one key of its own")
    }

    @Test func `files of keys are listed with their options`() throws {
        let options = try SecurityOptions.parse(words("--cluster-key k --accept-key a --accept-key b"))
        #expect(options.files.map(\.option) == ["--cluster-key", "--accept-key", "--accept-key"])
        #expect(options.files.map(\.path) == ["k", "a", "b"])
        #expect(options.protection == .key(file: "k") && options.key?.source == .option)
        #expect(try SecurityOptions.parse(words("--tls-certificate a")).protection == .certificates)
    }

    // MARK: - What a node keeps and answers

    @Test func `storage options have their values, or the defaults`() throws {
        let usual = try StorageOptions.parse([])
        #expect(usual.data == nil && usual.dataLimit == nil && usual.keepJobs == JobRetention().count)
        #expect(usual.keepDays == 30)
        let storage = try StorageOptions.parse(words("--data d --data-limit 20G --cache-size 0 --keep-days 1"))
        #expect(storage.dataLimit?.bytes == 20 << 30 && storage.cacheSize?.bytes == 0 && storage.keepDays == 1)
        #expect(throws: (any Error).self) { try StorageOptions.parse(words("--pixel-cache plenty")) }
        let http = try HTTPOptions.parse(words("--http 127.0.0.1:0 --http-host a --http-host b"))
        #expect(http.http == "127.0.0.1:0" && http.httpHosts == ["a", "b"] && http.httpToken == nil)
        #expect(try LogFormatOptions.parse([]).logFormat == .text && DisplayOptions.parse([]).format == .text)
    }
}
