import Foundation
import Glibc
import Testing

/// Machines and containers that are not as most are.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3)))) struct MachineTests {
    private static let isRoot = geteuid() == 0

    private func serve(_ words: [String], _ options: [String] = []) throws -> RunningProcess {
        try RunningProcess(
            "/usr/bin/env",
            words + [Skynode.path, "serve", "--no-multicast", "--http", "none", "--listen", "127.0.0.1:0"] + options)
    }

    private func address(of node: RunningProcess) async throws -> String {
        var lines = node.lines.makeAsyncIterator()
        return try #require(await lines.next()?.split(separator: " ").last.map(String.init))
    }

    private func slots(at address: String) async throws -> Int? {
        let row = try await Skynode.run("nodes", "--node", address, "--format", "json").output.first ?? ""
        return row.firstMatch(of: /"slots":(\d+)/).flatMap { Int($0.1) }
    }

    private func stop(_ node: RunningProcess) async {
        node.send(SIGTERM)
        _ = await node.end()
    }

    private func sky(in folder: ScratchFolder) async throws -> String {
        let file = folder.file("sky.fits")
        let made = try await Skynode.run("synthesize", file, "--width", "200", "--height", "200", "--seed", "7")
        #expect(made.status == 0, "\(made.errors)")
        return file
    }

    // MARK: - Processors

    @Test func `a node on one processor has one slot`() async throws {
        let folder = try ScratchFolder()
        let first = try await Skynode.shell("taskset -cp $$ | sed 's/.*: //; s/[-,].*//'").output.first ?? "0"
        let node = try serve(["taskset", "-c", first], ["--data", folder.file("data")])
        #expect(try await slots(at: address(of: node)) == 1)
        await stop(node)
    }

    /// A control group that limits the processor, of either version; `nil` where none can be made.
    private func group(_ body: (_ folder: String, _ setQuota: (Double?) throws -> Void) async throws -> Void)
        async throws
    {
        let places = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup"]
        let name = "skynode-test-\(UUID())"
        for place in places where access(place + "/cgroup.procs", W_OK) == 0 {
            let folder = "\(place)/\(name)"
            guard mkdir(folder, 0o755) == 0 else { continue }
            defer { rmdir(folder) }
            let (old, new) = (folder + "/cpu.cfs_quota_us", folder + "/cpu.max")
            guard access(old, W_OK) == 0 || access(new, W_OK) == 0 else { continue }
            return try await body(folder) { share in
                let time = share.map { "\(Int($0 * 100_000))" }
                let isOld = access(old, W_OK) == 0
                let file = try FileHandle(forWritingTo: URL(fileURLWithPath: isOld ? old : new))
                try file.write(contentsOf: Data((isOld ? time ?? "-1" : "\(time ?? "max") 100000").utf8))
                try file.close()
            }
        }
        print("no control group with a quota can be made here")
    }

    @Test(.enabled(if: isRoot, "only root can make control groups"))
    func `a quota of half a processor is one slot, and SIGHUP counts again`() async throws {
        let scratch = try ScratchFolder()
        try await group { folder, setQuota in
            try setQuota(0.5)
            let node = try serve(
                ["sh", "-c", "echo $$ > \(folder)/cgroup.procs; exec \"$0\" \"$@\""], ["--data", scratch.file("data")])
            let address = try await address(of: node)
            #expect(try await slots(at: address) == 1)
            try setQuota(nil)
            node.send(SIGHUP)
            try await node.untilErrors { $0.contains { $0.contains("read again") } }
            let all = try await Skynode.shell("nproc").output.first.flatMap { Int($0) }
            #expect(try await slots(at: address) == all)
            let isMore = (all ?? 1) > 1
            #expect(node.errorsSoFar.contains { $0.contains("changed=slots") } == isMore, "\(node.errorsSoFar)")
            await stop(node)
        }
    }

    // MARK: - Folders

    @Test func `a node goes on when its temporary folder is removed, under idle and busy workers`() async throws {
        let folder = try ScratchFolder()
        let temporary = folder.file("tmp")
        #expect(mkdir(temporary, 0o700) == 0)
        let node = try serve(
            ["TMPDIR=\(temporary)"], ["--data", folder.file("data"), "--slots", "2", "--read-folders", folder.path])
        let address = try await address(of: node)
        let image = try await sky(in: folder)
        func scan(_ number: Int) async throws -> Ended {
            try await Skynode.run("scan", image, "-o", folder.file("out\(number)"), "--no-cache", "--node", address)
        }
        #expect(try await scan(1).status == 0)
        // The workers are idle.
        try FileManager.default.removeItem(atPath: temporary)
        #expect(mkdir(temporary, 0o700) == 0)
        let busy = try RunningProcess(
            Skynode.path,
            [
                "simulate", "--tasks", "2", "--duration", "2s", "--poison", "1:crash", "--node", address, "--format",
                "json",
            ])
        #expect(try await scan(2).status == 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: temporary) {
            try FileManager.default.removeItem(atPath: temporary + "/" + name)
        }
        for number in 3...5 { #expect(try await scan(number).status == 0) }
        #expect(await busy.end().status == 1, "one task crashes always")
        #expect(node.errorsSoFar.contains { $0.contains("the workers' folder was removed") })
        await stop(node)
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary).isEmpty, "it removes its own")
    }

    @Test(arguments: ["/nonexistent", "/etc/passwd", "relative"])
    func `a TMPDIR that cannot be used costs one line`(value: String) async throws {
        let folder = try ScratchFolder()
        let image = try await sky(in: folder)
        let scan = try await Skynode.shell(
            "TMPDIR=\(value) \"$0\" scan --alone \(image) -o \(folder.file("out"))")
        #expect(scan.status == 0, "\(scan.errors)")
        #expect(scan.errors.count { $0.contains("TMPDIR cannot be used") } == 1)
    }

    @Test(
        .enabled(if: Lab.obstacle == nil, "no namespaces can be made here"), arguments: ["scan --alone sky", "serve"])
    func `without any temporary folder a command says so at once`(command: String) async throws {
        let folder = try ScratchFolder()
        let image = try await sky(in: folder)
        let options = command == "serve" ? "--listen 127.0.0.1:0 --no-multicast --data /mnt/data" : "-o /mnt/out"
        let ended = try await Skynode.shell(
            """
            exec unshare -m sh -c 'mount --bind \(folder.path) /mnt; cp "$0" /mnt/skynode 2>/dev/null
            for place in /tmp /var/tmp /dev/shm; do mount -t tmpfs -o ro none $place; done
            exec /mnt/skynode \(command.replacing("sky", with: "/mnt/" + (image.split(separator: "/").last ?? ""))) \(options)' "$0"
            """)
        #expect(ended.status == 2 && ended.errors.count == 1, "\(ended.errors)")
        #expect(ended.errors.first?.contains("TMPDIR names one") == true)
    }

    @Test(.enabled(if: isRoot, "only root can start a node of another user"))
    func `without a home, or with one that others can replace, a node asks for --data`() async throws {
        let folder = try ScratchFolder()
        #expect(chmod(folder.path, 0o777) == 0)
        let other = "exec env -i SKYNODE_CLUSTER_KEY= $HOME_IS setpriv --reuid 23456 --regid 23456 --clear-groups"
        func start(_ home: String) async throws -> Ended {
            try await Skynode.shell(
                other.replacing("$HOME_IS", with: home) + " timeout 30 \"$0\" serve --no-multicast --listen 127.0.0.1:0"
            )
        }
        for (home, words) in [
            ("", "has no home"), ("HOME=", "has no home"), ("HOME=relative", "has no home"),
            ("HOME=\(folder.path)", "every user can write to \(folder.path)"),
            ("HOME=/nonexistent", "cannot make /nonexistent"),
        ] {
            let ended = try await start(home)
            #expect(ended.status == 2 && ended.errors.count == 1, "\(home): \(ended.errors)")
            #expect(ended.errors.first?.contains(words) == true && ended.errors.first?.contains("--data") == true)
        }
    }

    // MARK: - Processes and file systems of the kernel

    @Test(.enabled(if: Lab.obstacle == nil, "no namespaces can be made here"))
    func `process 1 of a container leaves no zombies, loses no worker, and ends when it is told to`() async throws {
        let folder = try ScratchFolder()
        let node = try serve(
            ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"],
            ["--data", folder.file("data"), "--slots", "2"])
        let address = try await address(of: node)
        let inside = "nsenter -t $(cat /proc/\(node.pid)/task/\(node.pid)/children) -p -m"
        // Those that a shell leaves behind; the last one ends when the others have.
        let orphans = try await Skynode.shell(
            "exec \(inside) sh -c 'for i in 1 2 3 4 5 6; do (true &); done; (while ps -e -o ppid=,comm= | grep -q \"^ *1 true\"; do :; done)'"
        )
        #expect(orphans.status == 0)
        let image = try await sky(in: folder)
        let scan = try await Skynode.run("scan", image, "-o", folder.file("out"), "--node", address)
        #expect(scan.status == 0, "\(scan.errors)")
        // A worker that crashes is told by how it ended.
        let crash = try await Skynode.run(
            "simulate", "--tasks", "1", "--duration", "10ms", "--poison", "1:crash", "--node", address)
        #expect(crash.status == 1 && crash.errors.contains { $0.contains("signal") }, "\(crash.errors)")
        let zombies = try await Skynode.shell(
            "exec \(inside) sh -c 'for i in $(seq 300); do ps -e -o stat= | grep -q Z || exit 0; done; ps -e; exit 1'")
        #expect(zombies.status == 0, "\(zombies.output)")
        _ = try await Skynode.shell("kill -TERM $(cat /proc/\(node.pid)/task/\(node.pid)/children)")
        #expect(await node.end().status == 0)
    }

    @Test(
        .enabled(if: Lab.obstacle == nil, "no namespaces can be made here"),
        arguments: ["unshare -m sh -c 'umount -l /proc; exec", "unshare --pid --fork sh -c 'exec"])
    func `without its own proc the version is told, and all else is refused in one line`(way: String) async throws {
        func run(_ words: String) async throws -> Ended {
            try await Skynode.shell("exec \(way) \"$0\" \(words)' \"$0\"")
        }
        for words in ["version", "--version"] {
            let ended = try await run(words)
            #expect(ended.status == 0 && ended.output.first?.contains("0.") == true, "\(ended.errors)")
        }
        for words in ["scan --alone x.fits -o out", "simulate --tasks 1 --duration 10ms", "serve", "nodes", "doctor"] {
            let ended = try await run(words)
            #expect(ended.status == 2 && ended.output.isEmpty && ended.errors.count == 1, "\(ended.errors)")
            #expect(ended.errors.first?.contains("/proc") == true)
        }
    }

    // MARK: - Networks

    /// A network of its own, with a node in it.
    private func withNode(_ options: String, first: String = "", _ body: (RunningProcess) async throws -> Void)
        async throws
    {
        let folder = try ScratchFolder()
        let node = try RunningProcess(
            "/usr/bin/env",
            [
                "unshare", "--net", "sh", "-c",
                "ip link set lo up; \(first) exec \"$0\" serve --http none --data \(folder.file("data")) \(options)",
                Skynode.path,
            ])
        do {
            _ = try await address(of: node)
            try await body(node)
        } catch {
            await stop(node)
            throw error
        }
        await stop(node)
    }

    @Test(.enabled(if: Lab.obstacle == nil, "no network namespaces can be made here"))
    func `interfaces that come and go leave no descriptors behind`() async throws {
        let group = RunningCluster.group()
        try await withNode("--listen 0.0.0.0:0 --insecure --log-level debug --multicast \(group)") { node in
            let inside = "nsenter -t \(node.pid) -n"
            func descriptors() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/\(node.pid)/fd").count
            }
            let pairs = 6
            // The first round takes what the node keeps from then on.
            var before = Int.max
            for round in 1...3 {
                let made = (1...pairs).map { "ip link add v\(round)a\($0) type veth peer name v\(round)b\($0)" }
                let up = (1...pairs).map { "ip link set v\(round)a\($0) up; ip link set v\(round)b\($0) up" }
                let added = try await Skynode.shell("\(inside) sh -c '\((made + up).joined(separator: "; "))'")
                #expect(added.status == 0, "\(added.errors)")
                // Their addresses cannot be used at first, which is when sockets were left open.
                let names = (1...pairs).flatMap { ["v\(round)a\($0)", "v\(round)b\($0)"] }
                try await node.untilErrors { lines in
                    names.allSatisfy { name in
                        lines.contains { $0.contains("beacons go by an interface") && $0.contains("%\(name)") }
                    }
                }
                let gone = (1...pairs).map { "ip link del v\(round)a\($0)" }.joined(separator: "; ")
                #expect(try await Skynode.shell("\(inside) sh -c '\(gone)'").status == 0)
                try await node.untilErrors { lines in
                    names.allSatisfy { name in
                        lines.contains { $0.contains("an interface has gone") && $0.contains("%\(name)") }
                    }
                }
                // The last one is closed right after its line.
                var after = try descriptors()
                for _ in 0..<10_000 where before < after {
                    await Task.yield()
                    after = try descriptors()
                }
                #expect(after <= before, "round \(round): \(before), then \(after)")
                before = round == 1 ? after + 1 : before
            }
        }
    }

    @Test(.enabled(if: Lab.obstacle == nil, "no network namespaces can be made here"))
    func `a machine without IPv6 has nodes as others have`() async throws {
        let group = RunningCluster.group()
        let off = "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6;"
        try await withNode("--listen 0.0.0.0:0 --insecure --multicast \(group)", first: off) { node in
            #expect(!node.errorsSoFar.contains { $0.contains("beacons") }, "\(node.errorsSoFar)")
        }
    }
}
