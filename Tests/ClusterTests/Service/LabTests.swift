import Foundation
import Testing

/// What happens to a cluster when machines and networks fail, on hosts in network namespaces. One lab after the other:
/// times matter.
@Suite(
    .serialized, .timeLimit(.minutes(Skynode.minutes(5))),
    .enabled(if: Lab.obstacle == nil, "no network namespaces can be made here: \(Lab.obstacle ?? "")"))
struct LabTests {
    private func names(_ count: Int) -> Set<String> { Set((1...count).map { "h\($0)" }) }

    /// Waits until all nodes list all.
    private func complete(_ lab: Lab, _ count: Int) async throws {
        let all = names(count)
        try await lab.until(within: 30, "all nodes list all") { lab in all.allSatisfy { lab.list(of: $0) == all } }
    }

    /// Stops a host's node, and waits until nothing listens at its port any more: a node that leaves answers questions until it has
    /// been let go.
    private func stop(_ host: String, _ lab: Lab) async throws {
        try await lab.command("stop \(host)")
        let (end, port) = (ContinuousClock.now + .seconds(30), String(7420, radix: 16, uppercase: true))
        while try await lab.attempt("run \(host) grep :\(port) /proc/net/tcp").0.contains(where: { $0.contains(" 0A ") }
        ) {
            guard ContinuousClock.now < end else { throw LabFailure(reason: "\(host) does not stop") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The first event of these kinds that `observer` reports on `name` since a moment.
    private func word(
        _ lab: Lab, _ observer: String, _ name: String, _ events: Set<String>, since: Double
    ) -> Lab.Event? {
        lab.events.first {
            $0.observer == observer && $0.name == name && events.contains($0.event) && $0.time >= since - 1
        }
    }

    /// Since when a host's node can be found, as it says of itself.
    ///
    /// What comes before is the start of a program. Ten debug builds start at once here, perhaps on two cores, and need two to
    /// three times the processor time of a release build; that is no property of the cluster. `Benchmarks/many-nodes.sh` measures
    /// the whole with a release build.
    private func listening(_ lab: Lab, _ name: String) -> Double { lab.views[name]?[name]?.since ?? 0 }

    @Test func `ten nodes started together know each other in two seconds, and a newcomer in one`() async throws {
        // Without watchers at first: ten more programs that start would slow the nodes down.
        try await Lab.with(10, watch: false) { lab in
            try await lab.listen(seconds: 2)
            try await lab.command("watch " + names(10).sorted().joined(separator: " "))
            try await complete(lab, 10)
            for observer in names(10) {
                for (name, event) in lab.views[observer] ?? [:] where name != observer {
                    lab.took(
                        "ten nodes know each other", from: max(listening(lab, observer), listening(lab, name)),
                        until: event.since, limit: 2000, "\(observer) of \(name)")
                }
            }
            try await lab.command(
                "spawn h1 skynode simulate --node 127.0.0.1:7420 --tasks 400 --duration 100ms --format json")
            try await lab.until(within: 20, "the job runs") { $0.printed.count > 5 }
            let added = try await lab.command("add").began
            let all = names(11)
            try await lab.until(within: 20, "the newcomer is listed by all") { lab in
                names(10).allSatisfy { lab.list(of: $0) == all }
            }
            try await lab.command("watch h11")
            try await lab.until(within: 20, "the newcomer lists all") { $0.list(of: "h11") == all }
            for observer in names(10) {
                let joined = word(lab, observer, "h11", ["joined", "present"], since: added)
                lab.took(
                    "a newcomer is known", from: listening(lab, "h11"), until: joined?.since, limit: 1000, observer)
            }
            try await lab.until(within: 20, "the newcomer works") { lab in
                lab.printed.contains { $0.line.contains("\"node\":\"h11\"") }
            }
        }
    }

    @Test func `a killed node is lost at once, and a frozen one is suspect, then lost, then back`() async throws {
        try await Lab.with(5) { lab in
            try await complete(lab, 5)
            let others = ["h1", "h2", "h3"]
            let killed = try await lab.command("kill h5").began
            try await lab.until(within: 10, "h5 is gone") { lab in
                others.allSatisfy { !lab.list(of: $0).contains("h5") }
            }
            for observer in others {
                let time = word(lab, observer, "h5", ["lost"], since: killed)?.time
                lab.took("a killed node is lost", from: killed, until: time, limit: 500, observer)
            }

            let frozen = try await lab.command("freeze h4").began
            try await lab.until(within: 10, "h4 is lost") { lab in
                others.allSatisfy { !lab.list(of: $0).contains("h4") }
            }
            for observer in others {
                let suspect = word(lab, observer, "h4", ["suspect"], since: frozen)?.time ?? .infinity
                let lost = word(lab, observer, "h4", ["lost"], since: frozen)?.time
                #expect(suspect <= lost ?? 0, "\(observer)")
                lab.took("a frozen node is lost", from: frozen, until: lost, limit: 3000, observer)
            }
            let thawed = try await lab.command("thaw h4").began
            try await lab.until(within: 10, "h4 is back") { lab in
                others.allSatisfy { lab.list(of: $0).contains("h4") } && lab.list(of: "h4") == names(4)
            }
            for observer in others {
                let back = word(lab, observer, "h4", ["back", "joined"], since: thawed)
                #expect(back?.event == "back", "nothing was restarted: \(observer)")
                lab.took("a thawed node is back", from: thawed, until: back?.time, limit: 3000, observer)
            }
        }
    }

    @Test func `a host that is cut off is lost, and is back soon after the cable is plugged in`() async throws {
        try await Lab.with(4) { lab in
            try await complete(lab, 4)
            let others = ["h1", "h2", "h3"]
            let cut = try await lab.command("cut h4").began
            try await lab.listen(seconds: 10)
            for (observer, name) in others.flatMap({ [($0, "h4"), ("h4", $0)] }) {
                let lost = word(lab, observer, name, ["lost"], since: cut)?.time
                lab.took("a host cut off is lost", from: cut, until: lost, limit: 3000, "\(observer) of \(name)")
                #expect(!lab.list(of: observer).contains(name))
            }
            let healed = try await lab.command("heal h4").began
            try await lab.until(within: 20, "h4 is back") { lab in
                names(4).allSatisfy { lab.list(of: $0) == names(4) }
            }
            for (observer, name) in others.flatMap({ [($0, "h4"), ("h4", $0)] }) {
                let back = word(lab, observer, name, ["back"], since: healed)?.time
                lab.took("a healed host is back", from: healed, until: back, limit: 5000, "\(observer) of \(name)")
            }
        }
    }

    @Test func `two halves of a cluster work on, each by itself, and become one again`() async throws {
        // Without copies: with them, jobs go on only where most of the nodes that keep them see each other, which is tried by
        // Tests/Chaos/losses.py.
        try await Lab.with(4, options: ["--copies", "0"]) { lab in
            try await complete(lab, 4)
            try await lab.command("split h1 h2 / h3 h4")
            try await lab.until(within: 10, "each half is by itself") { lab in
                lab.list(of: "h1") == ["h1", "h2"] && lab.list(of: "h2") == ["h1", "h2"]
                    && lab.list(of: "h3") == ["h3", "h4"] && lab.list(of: "h4") == ["h3", "h4"]
            }
            for host in ["h1", "h3"] {
                let job = try await lab.command(
                    "run \(host) skynode simulate --node 127.0.0.1:7420 --tasks 20 --duration 50ms --format json")
                let summary = job.output.last ?? ""
                #expect(summary.contains("\"completed\":20"), "\(summary)")
            }
            let healed = try await lab.command("heal").began
            try await lab.until(within: 20, "the halves are one") { lab in
                names(4).allSatisfy { lab.list(of: $0) == names(4) }
            }
            let last = lab.views.values.flatMap(\.values).map(\.time).max()
            lab.took("two halves are one", from: healed, until: last, limit: 5000, "nobody")
        }
    }

    @Test func `a network that drops a fifth of all packets loses no node in a minute`() async throws {
        try await Lab.with(5) { lab in
            try await complete(lab, 5)
            let began = try await lab.command("drop 20 h1 h2 h3 h4 h5").began
            try await lab.listen(seconds: 60)
            let lost = lab.events.filter { $0.time >= began && ["lost", "left"].contains($0.event) }
            #expect(lost.isEmpty, "\(lost.map { "\($0.observer) of \($0.name)" })")
        }
    }

    @Test func `one address is enough without any multicast`() async throws {
        try await Lab.with(5, watch: false) { lab in
            let hosts = (1...5).map { "h\($0)" }
            try await lab.command("kill " + hosts.joined(separator: " "))
            try await lab.command("nomulticast " + hosts.joined(separator: " "))
            try await lab.command("start " + hosts.joined(separator: " ") + " -- --join 10.83.0.1:7420")
            try await lab.command("watch " + hosts.joined(separator: " "))
            try await complete(lab, 5)
        }
    }

    @Test func `a node whose address changes is found at the new one`() async throws {
        try await Lab.with(3) { lab in
            try await complete(lab, 3)
            let changed = try await lab.command("run h3 ip addr del 10.83.0.3/24 dev eth0").began
            try await lab.command("run h3 ip addr add 10.83.0.77/24 dev eth0")
            // It comes back after it was lost, or before that, in which case nothing is reported.
            for observer in ["h1", "h2"] {
                var found: Double?
                while found == nil, Date.now.timeIntervalSince1970 * 1000 < changed + 20_000 {
                    let list = try await lab.command("nodes \(observer) --format json").output
                    let isThere = list.contains {
                        $0.contains(#""name":"h3""#) && $0.contains(#""address":"10.83.0.77:7420""#)
                            && $0.contains(#""state":"alive""#)
                    }
                    if isThere { found = Date.now.timeIntervalSince1970 * 1000 }
                }
                lab.took("a changed address is followed", from: changed, until: found, limit: 5000, observer)
            }
        }
    }

    @Test func `a host whose address arrives after its node has started is found`() async throws {
        try await Lab.with(3) { lab in
            try await complete(lab, 3)
            try await lab.command("stop h3")
            try await lab.until(within: 10, "h3 has left") { $0.list(of: "h1") == names(2) }
            try await lab.command("run h3 ip addr del 10.83.0.3/24 dev eth0")
            try await lab.command("start h3")
            try await lab.listen(seconds: 2)
            #expect(lab.list(of: "h1") == names(2))
            let added = try await lab.command("run h3 ip addr add 10.83.0.3/24 dev eth0").began
            try await complete(lab, 3)
            for observer in ["h1", "h2"] {
                let joined = word(lab, observer, "h3", ["joined"], since: added)
                lab.took("a late address is found", from: added, until: joined?.time, limit: 3000, observer)
            }
        }
    }

    @Test func `the doctor says what keeps a node from being seen`() async throws {
        try await Lab.with(3) { lab in
            func drop(_ host: String, _ packets: String) async throws {
                try await lab.command("run \(host) nft add table inet shut")
                try await lab.command("run \(host) nft add chain inet shut in { type filter hook input priority 0 ; }")
                try await lab.command("run \(host) nft add rule inet shut in \(packets) drop")
            }
            func problems(_ host: String) async throws -> [String] {
                let (output, last) = try await lab.attempt("run \(host) skynode doctor --seconds 6")
                let problems = output.filter { $0.hasPrefix("problem") }
                #expect(problems.isEmpty == last.hasPrefix("ok "), "\(last)")
                return problems
            }
            try await complete(lab, 3)
            #expect(try await problems("h1") == [])

            try await lab.command("nomulticast h2")
            let shut = try await problems("h2")
            #expect(shut.contains { $0.contains("eth0, 10.83.0.2") }, "\(shut)")
            #expect(!shut.contains { $0.contains("lo, 127.0.0.1") }, "\(shut)")
            try await lab.command("heal h2")

            // It hears and is heard, but its answers do not arrive.
            try await drop("h2", "tcp dport 7420 tcp flags == syn")
            let unreached = try await problems("h1")
            #expect(unreached == ["problem  h2 cannot be reached: 10.83.0.2:7420 (no answer)"])
            try await lab.command("heal h2")

            // It is heard, but it hears nothing and does not answer.
            try await drop("h2", "iifname eth0 udp dport 7421")
            let deaf = try await problems("h1")
            #expect(deaf.count == 1 && deaf[0].contains("does not hear this machine"), "\(deaf)")
            try await lab.command("heal h2")

            let folder = try ScratchFolder()
            #expect(try await Skynode.run("key", "new", "--output", folder.file("other")).status == 0)
            try await stop("h3", lab)
            try await lab.command("start h3 -- --cluster-key \(folder.file("other"))")
            let foreign = try await problems("h1")
            #expect(
                foreign.count == 1 && foreign[0].contains("nodes with another cluster key at 10.83.0.3"), "\(foreign)")
            try await stop("h3", lab)
            try await lab.command("start h3 -- --advertise 10.99.0.3:7420")
            let astray = try await problems("h1")
            #expect(astray.contains { $0.contains("h3 cannot be reached: 10.99.0.3:7420") }, "\(astray)")
        }
    }

    @Test func `a laptop that has a credential and nothing else finds the machines and scans on them`() async throws {
        let folder = try ScratchFolder()
        let (credential, image) = (folder.file("laptop.pem"), folder.file("image.fits"))
        let made = try await Skynode.run("synthesize", image, "--width", "600", "--height", "500")
        #expect(made.status == 0, "\(made.errors)")
        let alone = try await Skynode.run("scan", image, "--alone", "-o", folder.file("alone"))
        #expect(alone.status == 0, "\(alone.errors)")
        try await Lab.with(4) { lab in
            try await complete(lab, 4)
            // The fourth host has no node. The first one makes the credential.
            try await lab.command("stop h4")
            try await lab.until(within: 10, "h4 has left") { $0.list(of: "h1") == names(3) }
            try await lab.command("run h1 skynode key issue alice --output \(credential)")
            let laptop = "run h4 env SKYNODE_CLUSTER_KEY=\(credential)"
            let list = try await lab.command("\(laptop) skynode nodes --format json").output
            #expect(list.count == 3, "\(list)")
            let scan = try await lab.command("\(laptop) skynode scan \(image) -o \(folder.file("out"))").output
            #expect(!scan.contains { $0.contains("no node found") }, "\(scan)")
            let name = "image.csv"
            #expect(try folder.contents("out/\(name)") == folder.contents("alone/\(name)"))
            let jobs = try await lab.command("\(laptop) skynode jobs --all").output
            #expect(jobs.contains { $0.contains(" alice ") }, "\(jobs)")
            let (_, refused) = try await lab.attempt("\(laptop) skynode nodes drain h1")
            #expect(refused == "error: exit code 2")
        }
    }

    @Test func `clusters with different keys do not mix, and each says so once`() async throws {
        let folder = try ScratchFolder()
        let other = folder.file("other.key")
        #expect(try await Skynode.run("key", "new", "--output", other).status == 0)
        // Without copies: a node that others have copied waits for them when it is started with another key.
        try await Lab.with(4, options: ["--copies", "0"]) { lab in
            try await complete(lab, 4)
            try await lab.command("stop h3 h4")
            try await lab.until(within: 10, "two have left") { lab in
                lab.list(of: "h1") == names(2) && lab.list(of: "h2") == names(2)
            }
            try await lab.command("start h3 h4 -- --cluster-key \(other)")
            // Both clusters send several beacons meanwhile.
            try await lab.listen(seconds: 9)
            #expect(lab.list(of: "h1") == names(2) && lab.list(of: "h2") == names(2))
            let list = try await lab.command("nodes h3 --format json --cluster-key \(other)")
            #expect(list.output.count == 2, "\(list.output)")
            for host in ["h1", "h2", "h3", "h4"] {
                let log = try await lab.command("log \(host)").output
                let lines = log.filter { $0.contains("another cluster key") }
                #expect(lines.count == 1, "\(host): \(lines)")
            }
        }
    }
}
