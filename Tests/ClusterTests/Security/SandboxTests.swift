import Foundation
import Glibc
import Logging
import Testing

@testable import SkyCore

/// Worker processes are confined: a file that takes one over gets no key, no journal, no network and no other process.
@Suite(.timeLimit(.minutes(Skynode.minutes(3)))) struct SandboxTests {
    private static let support = ConfinementSupport.ofThisMachine

    /// A folder with what a worker may read and what it must not.
    private struct Place {
        let folder: ScratchFolder
        var files: [String] = []
        var policy = ReadPolicy()

        init() throws {
            folder = try ScratchFolder()
            for name in ["journal", "home", "home/.ssh", "home/pictures", "images"] {
                try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
            }
            let contents = [
                "key": "cluster.key", "token": "token", "journal": "journal/jobs.sqlite",
                "private key of a person": "home/.ssh/id", "image": "images/sky.fits",
                "picture": "home/pictures/m13.fits",
                "loose image": "loose.fits", "": "not-to-be-removed",
            ]
            for (name, path) in contents {
                try "secret".write(toFile: folder.file(path), atomically: false, encoding: .utf8)
                if !name.isEmpty { files.append("\(name)=\(folder.file(path))") }
            }
            files += [
                "folder of images=\(folder.file("images"))/.", "folder of the journal=\(folder.file("journal"))/.",
                "folder of the key=\(folder.path)/.", "passwords=/etc/shadow", "users=/etc/passwd",
                "image by way of the root of a process=/proc/self/root\(folder.file("images/sky.fits"))",
                "key by way of the root of a process=/proc/self/root\(folder.file("cluster.key"))",
                "environment of the first process=/proc/1/environ",
            ]
            policy.secrets = ["cluster.key", "token", "journal"].map(folder.file)
            policy.home = folder.file("home")
        }
    }

    /// The trials that must succeed, so that images can be read.
    private static let allowed: Set<String> = [
        "image", "picture", "loose image", "folder of images", "image by way of the root of a process",
    ]

    /// Runs the trials of a worker, and returns how each ended, by its name.
    private static func trials(confined: Bool) async throws -> [String: String] {
        let place = try Place()
        let rules = try await ReadRules(place.policy, logger: Logger(label: "none") { _ in SwiftLogNoOpLogHandler() })
            .current()
        let errors = place.folder.file("errors")
        let gate = try StartGate()
        gate.open(with: rules?.ruleset)
        let process = try await ChildProcess.start(
            Skynode.path,
            arguments: [
                "worker", "--socket", "none", "--cluster", "none", "--name", place.folder.path, "--memory",
                "\(4 << 30)", "--parent", "\(getpid())",
            ] + (confined ? ["--gate"] : ["--unconfined"])
                + ["--try-reading"] + place.files,
            standardError: errors, gate: confined ? gate : nil)
        #expect(await process.hasEnded(within: .seconds(60)))
        let lines = try String(contentsOfFile: errors, encoding: .utf8).split(separator: "\n")
        let results = lines.map { $0.split(separator: ": ", maxSplits: 1).map(String.init) }
        return Dictionary(results.compactMap { $0.count == 2 ? ($0[0], $0[1]) : nil }) { first, _ in first }
    }

    private static let confined = Task { try await trials(confined: true) }
    private static let free = Task { try await trials(confined: false) }

    /// What Landlock keeps, and what the filter of system calls does.
    static let kept = [
        "key", "token", "journal", "private key of a person", "folder of the journal", "folder of the key", "passwords",
        "users", "key by way of the root of a process", "environment of the first process", "list of processes",
        "parent's environ", "parent's mem", "parent's maps", "parent's fd", "parent's cwd/.",
    ]
    static let filtered = [
        "write", "remove", "rename", "chmod", "IPv4 socket", "IPv6 socket", "Unix socket", "netlink socket",
        "socket pair", "signal to the parent", "limit of the parent", "process of its own", "ptrace",
        "memory of the parent", "descriptor of the parent", "mount", "namespace", "keyring", "BPF",
        "performance counters", "io_uring", "file in memory", "other user", "further filter", "executable memory",
        "executable memory afterwards", "exec",
    ]

    @Test(
        .enabled(if: support.landlock > 0, "skipped: the kernel has no Landlock"), arguments: kept)
    func `a worker cannot read`(_ name: String) async throws {
        let results = try await Self.confined.value
        #expect(results[name] == "refused (Permission denied)")
    }

    @Test(.enabled(if: support.hasFilter, "skipped: the kernel has no seccomp"), arguments: filtered)
    func `a worker cannot use`(_ name: String) async throws {
        let results = try await Self.confined.value
        #expect(results[name] == "refused (Operation not permitted)")
    }

    @Test func `a worker whose daemon never lets it go ends with the daemon's end of the gate`() async throws {
        let folder = try ScratchFolder()
        var gate: StartGate? = try StartGate()
        let process = try await ChildProcess.start(
            Skynode.path,
            arguments: [
                "worker", "--socket", folder.file("socket"), "--cluster", "none", "--name", "w", "--memory",
                "\(4 << 30)", "--parent", "\(getpid())", "--gate",
            ],
            standardError: folder.file("errors"), gate: gate)
        #expect(process.isRunning)
        gate = nil
        #expect(await process.hasEnded(within: .seconds(60)))
        #expect(
            try String(contentsOfFile: folder.file("errors"), encoding: .utf8)
                == "skynode: the daemon that started this worker is gone\n")
    }

    @Test func `a worker reads images, and nothing else succeeds`() async throws {
        let results = try await Self.confined.value
        let succeeded = Set(results.filter { $0.value == "allowed" }.keys)
        if Self.support.landlock > 0, Self.support.hasFilter { #expect(succeeded == Self.allowed) }
        #expect(succeeded.isSuperset(of: Self.allowed))
        #expect(results.count == Self.kept.count + Self.filtered.count + Self.allowed.count)
    }

    /// Without this, the tests above could pass because the trials are wrong.
    @Test func `the same trials succeed in a process that is not confined`() async throws {
        let results = try await Self.free.value
        let possible = [
            "key", "token", "journal", "private key of a person", "folder of the journal", "folder of the key", "users",
            "key by way of the root of a process", "list of processes", "parent's environ", "parent's mem",
            "parent's maps", "parent's fd", "parent's cwd/.", "write", "chmod", "rename", "remove", "IPv4 socket",
            "Unix socket",
            "netlink socket", "socket pair", "signal to the parent", "limit of the parent", "process of its own",
            "memory of the parent", "descriptor of the parent", "file in memory", "other user", "executable memory",
            "executable memory afterwards",
        ]
        // Yama, which some machines have, lets a process look at its children only.
        let isRestricted = access("/proc/sys/kernel/yama/ptrace_scope", F_OK) == 0
        let ofParent: Set = [
            "parent's mem", "parent's environ", "parent's maps", "parent's fd", "parent's cwd/.",
            "memory of the parent",
        ]
        for name in possible where !(isRestricted && ofParent.contains(name)) {
            #expect(results[name] == "allowed", "\(name)")
        }
        // It is another program then, which says nothing.
        #expect(results["exec"] == nil)
        #expect(results["mount"] != nil && results["keyring"] != nil)
    }

    // MARK: - Workers of a daemon

    private func scan(_ image: String, at address: String, into folder: String) async throws -> Ended {
        try await Skynode.run(
            "scan", image, "--node", address, "--no-picture", "--no-cache", "-o", folder, "--format", "json")
    }

    @Test func `the workers of a daemon are confined, and have nothing of its environment`() async throws {
        let folder = try ScratchFolder()
        let image = folder.file("sky.fits")
        #expect(try await Skynode.run("synthesize", image, "--width", "128", "--height", "128").status == 0)
        try await RunningCluster.with(1, slots: 1) { cluster in
            #expect(try await scan(image, at: cluster.addresses[0], into: folder.file("out")).status == 0)
            let daemon = cluster.nodes[0].pid
            let workers = try Self.children(of: daemon)
            let worker = try #require(workers.first)
            let status = try String(contentsOfFile: "/proc/\(worker)/status", encoding: .utf8).split(separator: "\n")
            #expect(status.contains("NoNewPrivs:\t1"))
            if Self.support.hasFilter {
                #expect(status.contains("Seccomp:\t2"))
                let filters = status.first { $0.hasPrefix("Seccomp_filters:") }
                #expect(filters.flatMap { Int($0.split(separator: "\t")[1]) } ?? 0 >= 2)
                let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(worker)/task")
                #expect(threads.count > 1)
                for thread in threads {
                    let text = try String(contentsOfFile: "/proc/\(worker)/task/\(thread)/status", encoding: .utf8)
                    #expect(text.split(separator: "\n").contains { $0 == filters ?? "" }, "thread \(thread)")
                }
            }
            let effective = status.first { $0.hasPrefix("CapEff:") }.flatMap {
                UInt64($0.split(separator: "\t")[1], radix: 16)
            }
            #expect(effective == 0 || effective == 1 << 2 || effective == 1 << 1, "\(effective ?? 0)")
            // The daemon got this test's.
            #expect(ProcessInfo.processInfo.environment.values.contains(Skynode.password))
            let environment = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(worker)/environ"))
            #expect(!String(decoding: environment, as: UTF8.self).contains(Skynode.password))
            let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(worker)/fd")
            let links = files.compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(worker)/fd/\($0)")
            }
            #expect(!links.contains { $0.contains("landlock") }, "\(links)")
        }
    }

    private static func children(of process: pid_t) throws -> [pid_t] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task").flatMap { thread in
            let text = (try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/children", encoding: .utf8)) ?? ""
            return text.split(separator: " ").compactMap { pid_t($0) }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "skipped: only root can start a daemon of another user"))
    func `what belongs to a daemon below proc is root's`() async throws {
        let folder = try ScratchFolder()
        chmod(folder.path, 0o755)
        let data = folder.file("data")
        mkdir(data, 0o700)
        chown(data, 65534, 65534)
        let node = try RunningProcess(
            "/usr/bin/setpriv",
            [
                "--reuid=65534", "--regid=65534", "--clear-groups", Skynode.path, "serve", "--no-multicast", "--listen",
                "127.0.0.1:0", "--http", "none", "--data", data,
            ])
        var lines = node.lines.makeAsyncIterator()
        #expect(await lines.next()?.contains("listening") == true, "\(node.errorsSoFar)")
        var status = stat()
        for name in ["environ", "mem", "fd"] {
            #expect(stat("/proc/\(node.pid)/\(name)", &status) == 0 && status.st_uid == 0, "\(name)")
        }
        node.send(SIGTERM)
        #expect(await node.end().status == 0)
    }

    /// The folder beside the journal can be read one by one only, so that a worker does not see what is put there later.
    @Test func `an image in a folder that was made after the start of the workers is scanned`() async throws {
        let folder = try ScratchFolder()
        try await RunningCluster.with(1, slots: 1) { cluster in
            for name in ["first", "second", "third"] {
                let images = cluster.state.file(name)
                mkdir(images, 0o755)
                let image = images + "/\(name).fits"
                #expect(try await Skynode.run("synthesize", image, "--width", "128", "--height", "128").status == 0)
                let ended = try await scan(image, at: cluster.addresses[0], into: folder.file("out"))
                #expect(ended.status == 0, "\(name): \(ended.errors)")
            }
        }
    }

    @Test(.enabled(if: support.landlock > 0, "skipped: the kernel has no Landlock"))
    func `an image in the folder of the journal is refused with what to do`() async throws {
        let folder = try ScratchFolder()
        try await RunningCluster.with(1, slots: 1) { cluster in
            let image = cluster.state.file("node1") + "/sky.fits"
            #expect(try await Skynode.run("synthesize", image, "--width", "128", "--height", "128").status == 0)
            let ended = try await scan(image, at: cluster.addresses[0], into: folder.file("out"))
            #expect(ended.status == 2)
            #expect(ended.errors.contains { $0.contains("read-folders") }, "\(ended.errors)")
        }
    }

    @Test func `with read-folders a node reads images below these folders only`() async throws {
        let folder = try ScratchFolder()
        for name in ["open", "closed"] {
            mkdir(folder.file(name), 0o755)
            let image = folder.file("\(name)/sky.fits")
            #expect(try await Skynode.run("synthesize", image, "--width", "128", "--height", "128").status == 0)
        }
        symlink(folder.file("closed/sky.fits"), folder.file("open/link.fits"))
        symlink(folder.file("open"), folder.file("way"))
        try await RunningCluster.with(1, slots: 1, options: { _ in ["--read-folders", folder.file("way")] }) {
            cluster in
            for (path, isRead) in [
                ("open/sky.fits", true), ("way/sky.fits", true), ("closed/sky.fits", false), ("open/link.fits", false),
            ] {
                let ended = try await scan(folder.file(path), at: cluster.addresses[0], into: folder.file("out"))
                #expect((ended.status == 0) == isRead, "\(path): \(ended.errors)")
                guard !isRead else { continue }
                let words =
                    "this node reads images below \(folder.file("open")) only (read-folders in its configuration)"
                #expect(ended.errors.contains { $0.contains(words) }, "\(path): \(ended.errors)")
            }
        }
    }
}
