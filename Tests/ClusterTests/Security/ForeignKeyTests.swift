import Foundation
import Glibc
import Testing

/// Commands with a key or a credential that the nodes around them do not take. What they did alone would pass for the cluster's work.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3)))) struct ForeignKeyTests {
    private let simulate = ["simulate", "--tasks", "1", "--duration", "1ms"]

    private func expectRefusal(_ ended: Ended, _ words: String) {
        #expect(ended.status == 3 && ended.output.isEmpty, "\(ended.output)")
        #expect(ended.errors.count == 1 && ended.errors[0].contains(words), "\(ended.errors)")
    }

    @Test func `a key that nodes do not have ends a command, which works alone on the user's word`() async throws {
        let keys = try await IssuedKeys([("alice", "user")])
        let other = try await IssuedKeys([("carl", "user")])
        let image = keys.folder.file("sky.fits")
        #expect(try await Skynode.run("synthesize", image, "--width", "64", "--height", "64").status == 0)
        let place = keys.folder.file("config/skynode")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: other.cluster, toPath: place + "/cluster.key")
        try await RunningCluster.with(
            1, slots: 1, options: { _ in ["--cluster-key", keys.cluster] }, keys: ["--cluster-key", keys.cluster]
        ) { cluster in
            let here = ["--multicast", cluster.multicast]
            let words = "a node with another cluster key is heard, at \(cluster.addresses[0]), and none with "
            let scan = ["scan", image, "-o", keys.folder.file("out")]
            for command in [simulate, scan, simulate + ["--slots", "1"], simulate + ["--detach"], ["nodes"], ["jobs"]] {
                for key in [other.cluster, other.folder.file("carl")] {
                    if command.contains("--slots"), key != other.cluster { continue }
                    expectRefusal(try await Skynode.run(command + here + ["--cluster-key", key]), words)
                    #expect(access(keys.folder.file("out"), F_OK) == -1, "nothing is written")
                }
            }
            // However the key is named.
            let line = (simulate + here).joined(separator: " ")
            expectRefusal(try await Skynode.shell("SKYNODE_CLUSTER_KEY='\(other.cluster)' \"$0\" \(line)"), words)
            expectRefusal(
                try await Skynode.shell(
                    "unset SKYNODE_CLUSTER_KEY; XDG_CONFIG_HOME='\(keys.folder.file("config"))' \"$0\" \(line)"),
                "was taken because none was named")
            expectRefusal(
                try await Skynode.run(
                    simulate + ["--no-multicast", "--join", cluster.addresses[0], "--cluster-key", other.cluster]),
                "the node at \(cluster.addresses[0]) uses a different cluster key")
            for key in [other.cluster, other.folder.file("carl")] {
                let alone = try await Skynode.run(simulate + here + ["--alone", "--cluster-key", key])
                #expect(alone.status == 0 && alone.errors.isEmpty, "\(alone.errors)")
            }
            // Who has no key means no cluster, and is told of it.
            let without = try await Skynode.shell("SKYNODE_CLUSTER_KEY= \"$0\" \(line)")
            #expect(without.status == 0)
            #expect(without.errors.first?.contains("a node with a cluster key is heard") == true, "\(without.errors)")

            expectRefusal(
                try await Skynode.run(simulate + here + ["--require-cluster", "--cluster-key", other.cluster]), words)
            let used = try await Skynode.run(simulate + here + ["--require-cluster", "--cluster-key", keys.cluster])
            #expect(used.status == 0 && used.errors.isEmpty, "\(used.errors)")
        }
    }

    @Test func `a revoked credential ends a command, whether the node is named or found`() async throws {
        let keys = try await IssuedKeys([("alice", "user")])
        #expect(try await Skynode.run("key", "revoke", "alice", "--cluster-key", keys.cluster).status == 0)
        try await RunningCluster.with(
            1, slots: 1, options: { _ in ["--cluster-key", keys.cluster] }, keys: ["--cluster-key", keys.cluster]
        ) { cluster in
            let found = ["--multicast", cluster.multicast, "--cluster-key", keys.folder.file("alice")]
            for options in [found, keys.of("alice", cluster.addresses[0])] {
                for command in [simulate, ["nodes"], ["jobs"]] {
                    expectRefusal(
                        try await Skynode.run(command + options), "the credential of user alice has been revoked")
                }
            }
            let doctor = try await Skynode.run(["doctor", "--node", "127.0.0.1:1", "--seconds", "5"] + found)
            let advice = doctor.output.drop { !$0.contains("has been revoked") }.dropFirst().first
            #expect(advice?.contains("skynode key issue alice") == true, "\(doctor.output)")
            #expect(!doctor.output.contains { $0.contains("firewall") }, "\(doctor.output)")
        }
    }

    @Test func `a credential does nothing where there is no node, and nor does who requires a cluster`() async throws {
        let keys = try await IssuedKeys([("alice", "user")])
        let nowhere = ["--multicast", RunningCluster.group()]
        expectRefusal(
            try await Skynode.run(simulate + nowhere + ["--cluster-key", keys.folder.file("alice")]),
            "with the credential of user alice nothing is done without one")
        for options in [[], ["--cluster-key", keys.cluster], ["--slots", "1"]] {
            expectRefusal(try await Skynode.run(simulate + nowhere + options + ["--require-cluster"]), "no node found")
        }
        let line = (simulate + nowhere).joined(separator: " ")
        expectRefusal(try await Skynode.shell("SKYNODE_REQUIRE_CLUSTER=true \"$0\" \(line)"), "no node found")
        let alone = try await Skynode.shell("SKYNODE_REQUIRE_CLUSTER=true \"$0\" \(line) --alone")
        #expect(alone.status == 0 && alone.errors.isEmpty)
        for (variable, option) in [("maybe", ""), ("", "--alone --require-cluster")] {
            #expect(try await Skynode.shell("SKYNODE_REQUIRE_CLUSTER=\(variable) \"$0\" \(line) \(option)").status == 2)
        }
    }

    @Test(
        .enabled(if: Lab.namespaceObstacle == nil, "other machines' nodes need a network of one's own"))
    func `a command that runs a member says where that has no link, and requires one where it is told to`() async throws
    {
        let keys = try await IssuedKeys([])
        // A node that listens on the network only. A command that is no member finds it; its own member, on loopback, does not.
        let ended = try await Skynode.shell(
            """
            exec unshare --net sh -c 'ip link set lo up; ip link add dome0 type veth peer name dome1
            ip link set dome0 up; ip link set dome1 up; ip address add 10.99.0.3/24 dev dome0
            mkfifo \(keys.folder.file("line")); exec 3<>\(keys.folder.file("line"))
            "$0" serve --name far --listen 10.99.0.3:7420 --cluster-key \(keys.cluster) --http none \
                --data \(keys.folder.path)/far >&3 2>/dev/null & node=$!
            while read -r line <&3; do case $line in *listening*) break;; esac; done
            try() { name=$1; shift; "$0" simulate --tasks 1 --duration 1ms --cluster-key \(keys.cluster) "$@" 2>&1 | sed "s/^/$name: /"
                "$0" simulate --tasks 1 --duration 1ms --cluster-key \(keys.cluster) "$@" >/dev/null 2>&1; echo "$name: $?"; }
            try found --require-cluster
            try slots --slots 1 --require-cluster
            try dead --join 10.99.0.3:1 --require-cluster
            try quiet --join 10.99.0.3:1 --no-multicast
            try joined --join 10.99.0.3:7420 --require-cluster
            kill -KILL $node' "$0"
            """)
        func lines(_ name: String) -> [String] {
            ended.output.filter { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
        }
        for name in ["found", "joined"] {
            #expect(lines(name).last == "0" && !lines(name).contains { $0.hasPrefix("note: ") }, "\(ended.output)")
        }
        for name in ["slots", "dead"] {
            #expect(lines(name).count == 2 && lines(name).last == "3", "\(ended.output)")
            #expect(lines(name).first?.hasPrefix("skynode: no node found") == true, "\(ended.output)")
        }
        #expect(lines("quiet").last == "0")
        #expect(
            lines("quiet").first
                == "note: no node found (at 10.99.0.3:1: connection refused); working on this machine only",
            "\(ended.output)")
    }

    @Test(
        .enabled(
            if: Lab.namespaceObstacle == nil,
            "the node of this machine has a fixed port; that needs a network of one's own"))
    func `nodes says that nodes with another key are there, and works with one of several`() async throws {
        let (keys, other) = (try await IssuedKeys([]), try await IssuedKeys([]))
        let ended = try await Skynode.shell(
            """
            exec unshare --net sh -c 'ip link set lo up
            serve() { rm -f \(keys.folder.file("line")); mkfifo \(keys.folder.file("line")); exec 3<>\(keys.folder.file("line"))
            "$0" serve --name $1 --listen 127.0.0.1:$2 --cluster-key $3 --http none --data \(keys.folder.path)/$1 >&3 2>/dev/null &
            nodes="$nodes $!"; while read -r line <&3; do case $line in *listening*) break;; esac; done; }
            serve one 7420 \(keys.cluster); serve two 7500 \(other.cluster); serve three 7501 \(other.cluster)
            "$0" nodes --cluster-key \(keys.cluster) 2>&1 | sed "s/^/nodes: /"
            "$0" nodes --cluster-key \(other.cluster) 2>&1 | sed "s/^/other: /"
            "$0" simulate --tasks 1 --duration 1ms --cluster-key \(other.cluster) 2>&1 | sed "s/^/simulate: /"
            kill -KILL $nodes' "$0"
            """)
        func lines(_ command: String) -> [String] { ended.output.filter { $0.hasPrefix(command) } }
        #expect(lines("nodes: one ").count == 1 && lines("nodes: t").isEmpty)
        #expect(
            lines("nodes: note: ").first?.contains(
                "2 nodes with another cluster key are heard, at 127.0.0.1:7500, 127.0.0.1:7501") == true,
            "\(ended.output) \(ended.errors)")
        let refusal =
            "note: the node of this machine (127.0.0.1:7420) uses a different cluster key; using the node at 127.0.0.1:750"
        #expect(lines("other: t").count == 2 && lines("other: \(refusal)").count == 1)
        #expect(
            lines("simulate: \(refusal)").count == 1
                && lines("simulate: ").contains { $0.contains("1 of 1 tasks completed") })
    }
}
