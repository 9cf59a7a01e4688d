import ArgumentParser
import Foundation
import Testing

@testable import SkyNode

struct ConfiguredArgumentsTests {
    private func source(_ given: [String], _ environment: [String: String] = [:], file text: String? = nil) throws
        -> (source: ConfigurationSource<ServeCommand>, path: String?)
    {
        var path: String?
        if let text {
            let place = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).yaml")
            try text.write(to: place, atomically: true, encoding: .utf8)
            path = place.path
        }
        return (ConfigurationSource<ServeCommand>(arguments: given, environment: environment, path: path), path)
    }

    private func arguments(_ given: [String], _ environment: [String: String] = [:], file text: String? = nil)
        throws -> [String]
    {
        let (source, path) = try source(given, environment, file: text)
        defer { path.map { try? FileManager.default.removeItem(atPath: $0) } }
        return try source.read().configured.arguments
    }

    private func complaint(_ given: [String], _ environment: [String: String] = [:], file text: String? = nil)
        throws -> String
    {
        let (source, path) = try source(given, environment, file: text)
        defer { path.map { try? FileManager.default.removeItem(atPath: $0) } }
        let failure = try #require(throws: CommandFailure.self) { try source.read() }
        return (failure.message ?? "").replacingOccurrences(of: path ?? "\u{0}", with: "FILE")
    }

    @Test func `flags beat variables, which beat the file`() throws {
        let file = "slots: 1\nname: filed\nkeep-days: 3\njoin: [127.0.0.1:1, 127.0.0.2:2]\n"
        let found = try arguments(
            ["--slots", "7"], ["SKYNODE_SLOTS": "5", "SKYNODE_NAME": "varied", "HOME": "/"], file: file)
        #expect(
            found == ["--slots", "7", "--name=varied", "--keep-days=3", "--join=127.0.0.1:1", "--join=127.0.0.2:2"])
    }

    @Test func `a list in a variable has commas between its parts`() throws {
        #expect(
            try arguments([], ["SKYNODE_JOIN": "one:1,[::1]:2", "SKYNODE_INSECURE": "true"])
                == ["--insecure", "--join=one:1", "--join=[::1]:2"])
    }

    @Test func `an empty variable counts as unset`() throws {
        #expect(try arguments([], ["SKYNODE_NAME": ""]) == [])
    }

    @Test func `--insecure overrides the cluster key of the file`() throws {
        let (source, path) = try source(
            ["--insecure"], ["SKYNODE_NO_MULTICAST": "true"],
            file: "cluster-key: /none\nmulticast: 239.1.2.3:4\ninsecure: false\n")
        defer { path.map { try? FileManager.default.removeItem(atPath: $0) } }
        let (command, configured) = try source.read()
        #expect(configured.arguments == ["--insecure", "--no-multicast"])
        #expect(command.network.security.insecure)
    }

    @Test func `a flag that is false is left out`() throws {
        #expect(try arguments([], file: "insecure: false\nno-multicast: no\n") == [])
        #expect(try arguments([], ["SKYNODE_INSECURE": "false"], file: "insecure: true\n") == [])
    }

    @Test func `a bad value is reported with the place where it was set`() throws {
        let file = "name: x\nslots: many\n"
        #expect(try complaint([], file: file).hasPrefix("FILE:2: "))
        #expect(try complaint([], file: "slots: 1025\n") == "FILE:1: --slots 1025: a node has 0 to 1024 slots")
        #expect(try complaint([], ["SKYNODE_SLOTS": "1025"]).hasPrefix("SKYNODE_SLOTS: --slots 1025"))
        #expect(try complaint(["--slots", "1025"]) == "--slots 1025: a node has 0 to 1024 slots")
        #expect(
            try complaint([], file: "\nlisten: 0.0.0.0:7420\n").hasPrefix(
                "FILE:2: --listen 0.0.0.0:7420: without a key"))
        #expect(try complaint([], file: "data: /x\ndata-limit: 5\n").hasPrefix("FILE:2: --data-limit"))
        #expect(try complaint([], file: "log-level: loud\n").hasPrefix("FILE:1: "))
        #expect(try complaint([], file: "stop-grace: 2d\n").hasPrefix("FILE:1: "))
    }

    @Test func `all problems are reported at once, each with its place`() throws {
        let file = """
            lissten: here
            slots: 1025
            join: one:7420
            stop-grace: 10
            keep-jobs: 0
            keep-days: 40000
            log-level: loud
            cluster-key: /none/such.key
            interface: [eth99]
            advertise: nowhere
            """
        let (source, path) = try source([], ["SKYNODE_SLOT": "3", "SKYNODE_DATA_LIMIT": "20 gigs"], file: file)
        defer { path.map { try? FileManager.default.removeItem(atPath: $0) } }
        let problems = try source.problems().map { $0.replacingOccurrences(of: path ?? "\u{0}", with: "FILE") }
        let beginnings = [
            "FILE:1: there is no key `lissten`", "FILE:3: `join` takes a list", "there is no variable SKYNODE_SLOT",
            "SKYNODE_DATA_LIMIT: The value '20 gigs' is invalid", "FILE:4: The value '10' is invalid for '--stop-grace",
            "FILE:7: The value 'loud'", "FILE:5: --keep-jobs", "FILE:6: --keep-days", "FILE:2: --slots 1025",
            "FILE:8: --cluster-key: /none/such.key: no such file", "FILE:9: --interface eth99",
            "FILE:10: --advertise nowhere",
        ]
        for beginning in beginnings {
            #expect(problems.count { $0.hasPrefix(beginning) } == 1, "\(beginning)")
        }
        #expect(problems.count == beginnings.count, "\(problems.joined(separator: "\n"))")
    }

    @Test func `a list with a wrong part hides none of the other problems`() throws {
        let (source, path) = try source([], file: "join: [{a: b}]\nslots: 1025\n")
        defer { path.map { try? FileManager.default.removeItem(atPath: $0) } }
        let problems = try source.problems().map { $0.replacingOccurrences(of: path ?? "\u{0}", with: "FILE") }
        #expect(
            problems == [
                "FILE:1: `join` takes a list of HOST:PORT each", "FILE:2: --slots 1025: a node has 0 to 1024 slots",
            ])
    }

    @Test func `a list in a variable may have spaces between its parts`() throws {
        let found = try arguments(["--insecure"], ["SKYNODE_JOIN": "one:1, two:2"])
        #expect(found == ["--insecure", "--join=one:1", "--join=two:2"])
    }

    @Test(arguments: ["yes", "True", "1"])
    func `a flag in a variable is written in several ways`(word: String) throws {
        #expect(try arguments([], ["SKYNODE_NO_MULTICAST": word]) == ["--no-multicast"])
    }

    @Test func `a misspelt variable is an error`() throws {
        #expect(
            try complaint([], ["SKYNODE_SLOT": "3"])
                == "there is no variable SKYNODE_SLOT; did you mean SKYNODE_SLOTS?")
        #expect(
            try complaint([], ["SKYNODE_INSECURE": "maybe"]) == "SKYNODE_INSECURE=maybe: takes true or false")
    }

    @Test func `changed settings are found`() throws {
        let one = try ConfiguredArguments(given: ["--slots=3"], environment: ["SKYNODE_NAME": "a"], file: nil)
        let other = try ConfiguredArguments(
            given: [], environment: ["SKYNODE_NAME": "b", "SKYNODE_SLOTS": "3"], file: nil)
        #expect(one.changes(to: other).map(\.name) == ["name"])
    }

    @Test func `the list of keys has each option with its kind and its help`() throws {
        // The options as the parser describes them.
        let serve = try CommandInfo.root().command(["serve"]).command
        let arguments = Dictionary(uniqueKeysWithValues: (serve.arguments ?? []).map { ($0.name, $0) })
        let others: Set = ["config", "check-config", "list-keys", "allow-crash", "slowness", "help", "version"]
        #expect(Set(arguments.keys).subtracting(others) == Set(ServeKeys.all.map(\.name)))
        #expect(Set(ServeKeys.all.map(\.name)).count == ServeKeys.all.count, "none is in it twice")
        for key in ServeKeys.all {
            let argument = try #require(arguments[key.name])
            #expect(argument.abstract == key.help, "\(key.name)")
            #expect((argument.kind == "flag") == (key.kind == .flag), "\(key.name)")
            #expect(argument.isRepeating == (key.kind == .list), "\(key.name)")
        }
    }

    @Test func `the defaults of options are those in the list of keys`() throws {
        let command = try ServeCommand.parse([])
        #expect(command.listen == ServeKeys.listen.key.fallback)
        #expect("\(command.storage.keepJobs)" == ServeKeys.keepJobs.key.fallback)
        #expect(command.storage.keepDays == 30 && ServeKeys.keepDays.key.fallback == "30")
        #expect(command.stopGrace.duration == .seconds(10) && ServeKeys.stopGrace.key.fallback == "10s")
        #expect("\(command.logFormatting.logFormat)" == ServeKeys.logFormat.key.fallback)
    }

    @Test(arguments: [(20 << 30, "20G"), (1 << 10, "1K"), (3 << 39, "1536G"), (1000, "1000"), (0, "0")])
    func `a size is written as it is given`(bytes: Int, text: String) {
        #expect(SizeArgument.argument(bytes) == text)
        #expect(SizeArgument(argument: text)?.count == bytes)
    }
}
