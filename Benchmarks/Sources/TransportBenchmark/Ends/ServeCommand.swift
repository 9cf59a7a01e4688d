import ArgumentParser
import Foundation

/// The other end of `run --processes`: says where it listens and serves until its input ends.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Be the other end of another process.", shouldDisplay: false)

    @Option(help: "The cluster key's file.") var key: String

    func run() async throws {
        let servers = try await Servers(keyPath: key)
        var line = try JSONEncoder().encode(servers.ports)
        line.append(UInt8(ascii: "\n"))
        try FileHandle.standardOutput.write(contentsOf: line)
        await ServeCommand.untilInputEnds()
        try await servers.close()
    }

    /// Waits on a thread of its own, because the servers would lack one of the pool's threads.
    private static func untilInputEnds() async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                while !FileHandle.standardInput.availableData.isEmpty {}
                continuation.resume()
            }
        }
    }
}
