import Foundation
import Glibc
import Testing

/// Hosts on this machine, each in a network namespace, made and taken down by `Tests/Trials/lab/lab.sh`.
final class Lab {
    /// An event that one node reported of another, and its time.
    struct Event {
        /// The host whose node says it.
        var observer: String
        var event: String
        /// The host that the event is about.
        var name: String
        var id: String
        var address: String?
        /// Milliseconds since 1970.
        var time: Double
        /// Since when the other has been a member there.
        var since: Double
    }

    private let process: RunningProcess
    private var lines: AsyncStream<String>.Iterator
    /// When the first node was started, in milliseconds since 1970.
    private(set) var began = 0.0
    private(set) var events: [Event] = []
    /// The longest that each thing took, in milliseconds, and the longest it may take.
    private var times: [String: (time: Double, limit: Double)] = [:]
    /// What spawned commands have printed: host and line.
    private(set) var printed: [(host: String, line: String)] = []

    /// Why there is no lab here; `nil` where there is.
    static let obstacle: String? = ["nft", "tc"].first { !has($0) }.map { "no \($0)" } ?? namespaceObstacle

    /// Why there are no namespaces here; `nil` where there are.
    static let namespaceObstacle: String? = {
        if geteuid() != 0 { return "not root" }
        for tool in ["unshare", "nsenter", "setpriv", "runuser", "ip"] where !has(tool) { return "no \(tool)" }
        // They are not allowed, for example, in a container without the right to them.
        let isAllowed = system("unshare --mount --net --pid --fork true >/dev/null 2>&1") == 0
        return isAllowed ? nil : "network namespaces are not allowed"
    }()

    private static func has(_ tool: String) -> Bool {
        ["/usr/sbin/", "/sbin/", "/usr/bin/", "/bin/"].contains { access($0 + tool, X_OK) == 0 }
    }

    /// How often a lab is made at most until all times are short enough.
    private static let tries = ProcessInfo.processInfo.environment["LAB_TRIES"].flatMap(Int.init) ?? 5

    /// Runs `body` in a lab with nodes on `hosts` hosts.
    ///
    /// All hosts share the processors of this machine with all else that runs on it, which makes every time longer and
    /// none shorter. So where nothing but a time is wrong (see `took`), the whole is done again in another lab, `LAB_TRIES`
    /// times at most.
    static func with(
        _ hosts: Int, watch: Bool = true, options: [String] = [], _ body: (Lab) async throws -> Void
    ) async throws {
        for number in 1...tries {
            let times = try await once(hosts, watch: watch, options: options, body)
            for (what, (time, limit)) in times.sorted(by: { $0.key < $1.key }) {
                print("\(what): \(Int(time)) ms of \(Int(limit))")
                if number == tries { #expect(time < limit || Skynode.isSanitized, "\(what)") }
            }
            if Skynode.isSanitized || times.values.allSatisfy({ $0.time < $0.limit }) { return }
        }
    }

    private static func once(
        _ hosts: Int, watch: Bool, options: [String], _ body: (Lab) async throws -> Void
    ) async throws -> [String: (time: Double, limit: Double)] {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Trials/lab/lab.sh").path
        let process = try RunningProcess(
            script,
            ["--hosts", "\(hosts)", "--program", Skynode.path, "--slots", "1"] + (watch ? ["--watch"] : []) + ["--"]
                + options, takesInput: true)
        let lab = Lab(process)
        do {
            let ready = try await lab.reply { $0.hasPrefix("ready ") }
            lab.began = Double(ready.last?.split(separator: " ").last ?? "") ?? 0
            try await body(lab)
        } catch {
            process.write("quit")
            _ = await process.end()
            throw error
        }
        process.write("quit")
        let ended = await process.end()
        #expect(ended.status == 0, "\(ended.errors)")
        return lab.times
    }

    /// Notes how long something took, from `start` until `end`, both in milliseconds since 1970.
    ///
    /// - Parameters:
    ///   - end: `nil` where it has not happened at all, which another attempt does not mend.
    ///   - limit: what it may take, in milliseconds.
    func took(_ what: String, from start: Double, until end: Double?, limit: Double, _ observer: String) {
        guard let end else {
            Issue.record("\(what): \(observer) has not seen it")
            return
        }
        times[what] = (max(times[what]?.time ?? 0, end - start), limit)
    }

    private init(_ process: RunningProcess) {
        self.process = process
        lines = process.lines.makeAsyncIterator()
    }

    /// Gives a command and waits until it is done.
    ///
    /// - Returns: when it began, and what it printed.
    @discardableResult
    func command(_ text: String) async throws -> (began: Double, output: [String]) {
        let (output, last) = try await attempt(text)
        guard last.hasPrefix("ok ") else { throw LabFailure(reason: "\(text): \(last)") }
        return (Double(last.dropFirst(3)) ?? 0, output)
    }

    /// Gives a command that may fail.
    ///
    /// - Returns: what it printed, and the word of its end.
    func attempt(_ text: String) async throws -> (output: [String], last: String) {
        process.write(text)
        // Programs print "ok" too, but only the lab prints a time behind it.
        let output = try await reply {
            $0.hasPrefix("ok ") && Double($0.dropFirst(3)) != nil || $0.hasPrefix("error: ")
        }
        return (output.dropLast(), try #require(output.last))
    }

    /// Reads until a condition holds of what was heard. The test fails after `seconds`.
    ///
    /// - Returns: whether it holds.
    @discardableResult
    func until(within seconds: Double, _ what: Comment, _ condition: (Lab) -> Bool) async throws -> Bool {
        // A line comes at the end of the time whatever happens, so that reading ends.
        let alarm = Task { [process] in
            try await Task.sleep(for: .seconds(seconds))
            process.write("alarm")
        }
        defer { alarm.cancel() }
        while !condition(self) {
            let line = try await nextLine()
            if line == "error: no such command: alarm (help lists them)" {
                let holds = condition(self)
                #expect(holds, what)
                return holds
            }
            take(line)
        }
        return true
    }

    /// Lets so much time pass, and hears what happens.
    func listen(seconds: Double) async throws {
        let end = Date.now.timeIntervalSince1970 + seconds
        let alarm = Task { [process] in
            try await Task.sleep(for: .seconds(seconds))
            process.write("alarm")
        }
        defer { alarm.cancel() }
        while Date.now.timeIntervalSince1970 < end { take(try await nextLine()) }
    }

    /// The latest event that each node reported of each other one: observer, then name.
    var views: [String: [String: Event]] {
        events.reduce(into: [:]) { views, event in views[event.observer, default: [:]][event.name] = event }
    }

    /// The hosts that a node lists.
    func list(of observer: String) -> Set<String> {
        Set((views[observer] ?? [:]).filter { !["lost", "left"].contains($0.value.event) }.keys)
    }

    private func reply(_ isLast: (String) -> Bool) async throws -> [String] {
        var output: [String] = []
        while true {
            let line = try await nextLine()
            if take(line) { continue }
            // This line is left over from a wait that was over before its alarm.
            if line.hasPrefix("error: no such command: alarm") { continue }
            output.append(line)
            if isLast(line) { return output }
        }
    }

    private func nextLine() async throws -> String {
        if let line = await lines.next() { return line }
        let ended = await process.end()
        throw LabFailure(reason: "the lab ended with \(ended.status): \(ended.errors.joined(separator: "; "))")
    }

    /// Takes in a line. The result is `false` for a line that is the answer to a command.
    @discardableResult
    private func take(_ line: String) -> Bool {
        guard line.hasPrefix("h"), let blank = line.firstIndex(of: " ") else { return false }
        let rest = String(line[line.index(after: blank)...])
        let host = String(line[..<blank])
        if host.hasSuffix(">") {
            printed.append((String(host.dropLast()), rest))
            return true
        }
        guard rest.hasPrefix("{"), let said = try? JSONDecoder().decode(Said.self, from: Data(rest.utf8)) else {
            return false
        }
        events.append(
            Event(
                observer: host, event: said.event, name: said.name, id: said.id, address: said.address,
                time: Lab.milliseconds(said.time),
                since: Lab.milliseconds(said.since)))
        return true
    }

    private struct Said: Decodable {
        var event: String
        var name: String
        var id: String
        var address: String?
        var time: String
        var since: String
    }

    private static func milliseconds(_ text: String) -> Double {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return ((try? style.parse(text)) ?? .distantPast).timeIntervalSince1970 * 1000
    }
}

struct LabFailure: Error {
    var reason: String
}
