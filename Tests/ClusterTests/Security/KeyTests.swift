import Foundation
import Glibc
import Testing

/// `skynode key`, and the options that take a key.
@Suite(.serialized, .timeLimit(.minutes(Skynode.minutes(3)))) struct KeyTests {
    private func shell(_ line: String) async throws -> Ended { try await Skynode.shell(line) }

    private func mode(_ path: String) throws -> mode_t {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return status.st_mode & 0o777
    }

    private func text(_ folder: ScratchFolder, _ name: String) throws -> String {
        String(decoding: try folder.contents(name), as: UTF8.self)
    }

    @Test(arguments: ["022", "000", "077", "277"])
    func `a key written through the shell is closed to other users, whatever the umask`(umask: String) async throws {
        let folder = try ScratchFolder()
        let made = try await shell("umask \(umask); \"$0\" key new > '\(folder.file("cluster.key"))'")
        #expect(made.status == 0)
        #expect(made.errors.isEmpty)
        #expect(try mode(folder.file("cluster.key")) == 0o600)
        #expect(try text(folder, "cluster.key").hasPrefix("# SkyNet cluster key."))

        let shown = try await Skynode.run("key", "show", folder.file("cluster.key"))
        #expect(shown.status == 0)
        #expect(shown.output.count == 2)
        #expect(shown.output.first?.hasPrefix("fingerprint  ") == true)
        #expect(shown.output.last?.hasPrefix("valid until  ") == true)
    }

    @Test func `a file that other users could read is closed`() async throws {
        let folder = try ScratchFolder()
        let file = folder.file("cluster.key")
        try Data("old".utf8).write(to: URL(fileURLWithPath: file))
        chmod(file, 0o666)
        #expect(try await shell("\"$0\" key new > '\(file)'").status == 0)
        #expect(try mode(file) == 0o600)
    }

    @Test func `a key can be piped`() async throws {
        let folder = try ScratchFolder()
        let made = try await shell("umask 077; \"$0\" key new | cat > '\(folder.file("cluster.key"))'")
        #expect(made.status == 0)
        #expect(try await Skynode.run("key", "show", folder.file("cluster.key")).status == 0)
    }

    @Test func `- stands for standard output, and is no file`() async throws {
        let folder = try ScratchFolder()
        let made = try await shell(
            "cd '\(folder.file(""))' && \"$0\" key new -o - > cluster.key && "
                + "\"$0\" key issue alice --cluster-key cluster.key -o - > alice.pem && test ! -e ./- && cat alice.pem")
        #expect(made.status == 0, "\(made.errors)")
        #expect(made.output.contains { $0.hasPrefix("-----BEGIN CERTIFICATE") })
    }

    @Test func `a revocation says its time, and can be repeated`() async throws {
        let folder = try ScratchFolder()
        let key = folder.file("cluster.key")
        #expect(try await Skynode.run("key", "new", "-o", key).status == 0)
        for _ in 1...2 {
            let revoked = try await Skynode.run("key", "revoke", "alice", "--cluster-key", key)
            let said = try #require(revoked.output.first)
            #expect(said.contains(#/^credentials of alice that were issued until \d{4}-.* UTC count no more; /#))
        }
    }

    @Test func `on a terminal the key is shown with a hint how to keep it`() async throws {
        guard access("/usr/bin/script", X_OK) == 0 else { return }
        let ended = try await shell("script -qec \"'$0' key new\" /dev/null")
        let all = (ended.output + ended.errors).joined(separator: "\n")
        #expect(all.contains("-----BEGIN PRIVATE KEY-----"))
        #expect(all.contains("skynode key new > cluster.key"))
        #expect(all.contains("chmod 600"))
    }

    @Test func `--output creates a closed file, and never overwrites one`() async throws {
        let folder = try ScratchFolder()
        let file = folder.file("cluster.key")
        let made = try await shell("umask 000; \"$0\" key new --output '\(file)'")
        #expect(made.status == 0)
        #expect(made.output == ["wrote \(file), readable by you alone"])
        #expect(try mode(file) == 0o600)
        let before = try text(folder, "cluster.key")

        let again = try await Skynode.run("key", "new", "--output", file)
        #expect(again.status == 2)
        #expect(again.errors == ["skynode: \(file): exists already; a key is never overwritten, nodes may be using it"])
        #expect(try text(folder, "cluster.key") == before)

        // The target of a symbolic link is not written either.
        symlink(folder.file("elsewhere"), folder.file("link"))
        #expect(try await Skynode.run("key", "new", "--output", folder.file("link")).status == 2)
        #expect(access(folder.file("elsewhere"), F_OK) == -1)
    }

    @Test func `a key that cannot be written completely is an error`() async throws {
        let ended = try await shell("\"$0\" key new > /dev/full")
        #expect(ended.status == 2)
        #expect(ended.errors.count == 1)
        #expect(try await Skynode.run("key", "new", "-o", "/nonexistent/key").status == 2)
    }

    @Test func `key show prints nothing secret, and the same for every copy`() async throws {
        let folder = try ScratchFolder()
        _ = try await Skynode.run("key", "new", "-o", folder.file("a"))
        _ = try await shell("cp -p '\(folder.file("a"))' '\(folder.file("b"))'")
        _ = try await Skynode.run("key", "new", "-o", folder.file("c"))
        let (a, b, c) = (
            try await Skynode.run("key", "show", folder.file("a")),
            try await Skynode.run("key", "show", folder.file("b")),
            try await Skynode.run("key", "show", folder.file("c"))
        )
        #expect(a.output == b.output)
        #expect(a.output != c.output)
        let lines = try text(folder, "a").split(separator: "\n").filter { $0.count > 20 && !$0.hasPrefix("#") }
        #expect(!lines.isEmpty)
        for line in lines { #expect(!a.output.joined().contains(line)) }
    }

    // MARK: - Options

    private func expectRefusal(_ ended: Ended, saying words: String) {
        #expect(ended.status == 2)
        #expect(ended.errors.count == 1, "\(ended.errors)")
        #expect(ended.errors.first?.contains(words) == true, "\(ended.errors)")
        #expect(ended.output.isEmpty)
    }

    @Test(arguments: [
        ["serve", "--listen", "0.0.0.0:0"], ["serve", "--listen", "[::]:0"], ["serve", "--join", "10.0.0.1:7420"],
        ["nodes", "--node", "10.0.0.1:7420"], ["simulate", "--join", "10.0.0.1:7420"],
        ["simulate", "--node", "10.0.0.1:7420"],
    ])
    func `without a key other machines cannot be reached, and the error says how to make one`(
        arguments: [String]
    ) async throws {
        expectRefusal(
            try await Skynode.run(arguments),
            saying: "make a key with `skynode key new > cluster.key`, copy it to every machine, start with "
                + "--cluster-key cluster.key")
    }

    @Test(arguments: [["serve", "--listen", "127.0.0.1:0"], ["nodes"], ["simulate", "--tasks", "1"]])
    func `an unusable key is refused before anything is done`(command: [String]) async throws {
        let folder = try ScratchFolder()
        let file = folder.file("key")
        let given = ["--cluster-key", file]
        expectRefusal(try await Skynode.run(command + given), saying: "\(file): no such file")
        try Data("nonsense".utf8).write(to: URL(fileURLWithPath: file))
        chmod(file, 0o600)
        expectRefusal(try await Skynode.run(command + given), saying: "\(file): not a cluster key")
        unlink(file)
        _ = try await Skynode.run("key", "new", "-o", file)
        chmod(file, 0o644)
        expectRefusal(try await Skynode.run(command + given), saying: "run: chmod 600 \(file)")
    }

    @Test func `the error for a file that is not a key does not advise chmod`() async throws {
        let folder = try ScratchFolder()
        let file = folder.file("readable")
        try Data("root:x:0:0:root:/root:/bin/bash\n".utf8).write(to: URL(fileURLWithPath: file))
        chmod(file, 0o644)
        for command in [["key", "show", file], ["nodes", "--cluster-key", file]] {
            let ended = try await Skynode.run(command)
            expectRefusal(ended, saying: "\(file): not a cluster key")
            #expect(!ended.errors.joined().contains("chmod"), "\(ended.errors)")
        }
    }

    @Test(
        .enabled(
            if: Lab.namespaceObstacle == nil,
            "the node of this machine has a fixed port; that needs a network of one's own"))
    func `a command without the local node's key stops, unless it may work alone`() async throws {
        let folder = try ScratchFolder()
        let (key, image) = (folder.file("key"), folder.file("sky.fits"))
        _ = try await Skynode.run("key", "new", "-o", key)
        _ = try await Skynode.run("key", "new", "-o", key + "2")
        _ = try await Skynode.run("synthesize", image, "--width", "64", "--height", "64")
        /// Runs a command beside a node with a key, in a network namespace of their own. What the node says comes through a
        /// pipe that the shell has open itself, so that nobody waits for the other end.
        func beside(_ command: String) async throws -> Ended {
            try await shell(
                """
                exec unshare --net sh -c 'ip link set lo up; rm -f \(folder.file("line")); mkfifo \(folder.file("line")); \
                exec 3<>\(folder.file("line")); \
                "$0" serve --cluster-key \(key) --http none --no-multicast --data \(folder.file("data")) >&3 & node=$!; \
                while read -r line <&3; do case $line in *listening*) break;; esac; done; \
                "$0" \(command); status=$?; kill -KILL $node; exit $status' "$0"
                """)
        }
        let scan = "scan \(image) -o \(folder.file("out")) --no-picture --no-multicast"
        for options in ["", " --cluster-key \(key)2"] {
            let ended = try await beside(scan + options)
            #expect(ended.status == 3, "\(ended.errors)")
            let words = ended.errors.filter { $0.hasPrefix("skynode: ") }
            #expect(words.count == 1 && words[0].contains("--cluster-key") && words[0].contains("--alone"), "\(words)")
            #expect(access(folder.file("out"), F_OK) == -1)
        }
        let asked = try await beside("nodes --no-multicast")
        #expect(asked.status == 3 && !asked.errors.joined().contains("no node found"), "\(asked.errors)")
        let alone = try await beside(scan + " --alone")
        #expect(alone.status == 0 && !alone.errors.contains { $0.hasPrefix("note: ") }, "\(alone.errors)")
        let found = try await beside(scan + " --cluster-key \(key)")
        #expect(found.status == 0, "\(found.errors)")
    }

    @Test(.enabled(if: Lab.namespaceObstacle == nil, "a node may run on this machine"))
    func `a scan that finds no node says that it works alone`() async throws {
        let folder = try ScratchFolder()
        let ended = try await shell(
            "exec unshare --net sh -c 'ip link set lo up; \"$0\" simulate --tasks 1 --duration 1ms --no-multicast' \"$0\""
        )
        #expect(ended.status == 0)
        #expect(ended.errors == ["note: no node found; working on this machine only"])
        withExtendedLifetime(folder) {}
    }

    @Test func `options that contradict each other are refused`() async throws {
        let folder = try ScratchFolder()
        let key = folder.file("key")
        _ = try await Skynode.run("key", "new", "-o", key)
        expectRefusal(
            try await Skynode.run("serve", "--insecure", "--cluster-key", key),
            saying: "--insecure and --cluster-key contradict")
        expectRefusal(
            try await shell("SKYNODE_CLUSTER_KEY='\(key)' \"$0\" serve --insecure"),
            saying: "--insecure and SKYNODE_CLUSTER_KEY contradict")
        expectRefusal(
            try await Skynode.run("nodes", "--tls-certificate", key), saying: "belong together; give all three")
        let all = ["--tls-certificate", key, "--tls-private-key", key, "--tls-trust-roots", key]
        expectRefusal(
            try await Skynode.run(["nodes", "--cluster-key", key] + all), saying: "contradict each other; give one")
        expectRefusal(
            try await Skynode.run(["nodes", "--insecure"] + all), saying: "--insecure and --tls-certificate contradict")
    }

    @Test func `the environment names the key where no option does`() async throws {
        let folder = try ScratchFolder()
        _ = try await Skynode.run("key", "new", "-o", folder.file("key"))
        let missing = folder.file("missing")
        expectRefusal(
            try await shell("SKYNODE_CLUSTER_KEY='\(missing)' \"$0\" nodes"), saying: "\(missing): no such file")
        // The option is the one that counts: what the environment names is not even opened.
        let node = try await shell(
            "SKYNODE_CLUSTER_KEY='\(missing)' \"$0\" nodes --node 127.0.0.1:1 --cluster-key '\(folder.file("key"))'")
        #expect(node.status == 3)
        #expect(try await shell("SKYNODE_CLUSTER_KEY= \"$0\" nodes --node 127.0.0.1:1").status == 3)
    }

    @Test func `a key in its usual place is the default, and is named if it is unusable`() async throws {
        let folder = try ScratchFolder()
        let key = folder.file("skynode/cluster.key")
        try FileManager.default.createDirectory(atPath: folder.file("skynode"), withIntermediateDirectories: true)
        func run(_ words: String) async throws -> Ended {
            try await shell(
                "unset SKYNODE_CLUSTER_KEY; XDG_CONFIG_HOME='\(folder.path)' \(words) --node 10.0.0.1:1 --format json")
        }
        expectRefusal(try await run("\"$0\" nodes"), saying: "without a key, links stay within this machine")
        try Data("nonsense".utf8).write(to: URL(fileURLWithPath: key))
        chmod(key, 0o600)
        expectRefusal(try await run("\"$0\" nodes"), saying: "\(key) was taken because none was named")
        expectRefusal(
            try await run("SKYNODE_CLUSTER_KEY= \"$0\" nodes"), saying: "without a key, links stay within this machine")
    }

    // MARK: - What a node says of its reach

    /// What a node with these options wrote to standard error from its start to its end.
    private func wordsOfServing(_ options: [String]) async throws -> [String] {
        let node = try RunningProcess(
            Skynode.path, ["serve", "--listen", "127.0.0.1:0", "--slots", "1", "--no-multicast"] + options)
        for await line in node.lines where line.contains("listening on") {
            node.send(SIGTERM)
        }
        let ended = await node.end()
        #expect(ended.status == 0)
        return ended.errors
    }

    @Test func `a node without a key says that it accepts only its own machine`() async throws {
        let words = try await wordsOfServing([])
        #expect(words.count == 1, "\(words)")
        #expect(words.first?.contains("accepts its own machine only") == true)
        #expect(words.first?.contains("skynode key new > cluster.key") == true)
    }

    @Test func `an insecure node says so, and a node with a key says nothing`() async throws {
        let words = try await wordsOfServing(["--insecure"])
        #expect(words.count == 1, "\(words)")
        #expect(words.first?.contains("neither encrypted nor authenticated") == true)
        let folder = try ScratchFolder()
        _ = try await Skynode.run("key", "new", "-o", folder.file("key"))
        #expect(try await wordsOfServing(["--cluster-key", folder.file("key")]).isEmpty)
    }
}
