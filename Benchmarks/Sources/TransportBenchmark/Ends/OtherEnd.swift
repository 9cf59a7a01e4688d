import Foundation

/// Where the servers are: in this process, or in a child of it.
enum OtherEnd {
    case here(Servers)
    case child(Process, stop: Pipe, Ports)

    /// Starts the servers in this process.
    static func here(keyPath: String) async throws -> OtherEnd {
        .here(try await Servers(keyPath: keyPath))
    }

    /// Starts this program once more, as `serve`.
    static func child(keyPath: String) throws -> OtherEnd {
        let process = Process()
        let (stop, answer) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["serve", "--key", keyPath]
        process.standardInput = stop
        process.standardOutput = answer
        try process.run()
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let more = answer.fileHandleForReading.availableData
            guard !more.isEmpty else { throw ChildFailed() }
            line += more
        }
        return .child(process, stop: stop, try JSONDecoder().decode(Ports.self, from: line))
    }

    var ports: Ports {
        switch self {
        case .here(let servers): servers.ports
        case .child(_, stop: _, let ports): ports
        }
    }

    func close() async throws {
        switch self {
        case .here(let servers): try await servers.close()
        case .child(let process, let stop, _):
            try stop.fileHandleForWriting.close()
            process.waitUntilExit()
        }
    }
}

/// The child process ended before it said where it listens.
struct ChildFailed: Error, CustomStringConvertible {
    var description: String { "the process of the other end ended at its start; `transport-benchmark serve` shows why" }
}
