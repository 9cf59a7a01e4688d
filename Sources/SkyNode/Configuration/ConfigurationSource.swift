import ArgumentParser
import Transport

/// Where `skynode serve` is told what to do: command line, environment, file.
struct ConfigurationSource {
    /// Behind `serve`.
    let arguments: [String]
    let environment: [String: String]
    /// Of the file; `nil` for none.
    let path: String?

    /// Reads all of it.
    ///
    /// - Throws: `CommandFailure` with the first thing that is wrong, and where.
    func read() async throws -> (command: ServeCommand, configured: ConfiguredArguments) {
        let file = try path.map { try ConfigurationFile(path: $0) }
        if let complaint = file?.complaints.first { throw CommandFailure(.usage, complaint) }
        let configured = try await ConfiguredArguments(given: arguments, environment: environment, file: file)
        let command: ServeCommand
        do {
            command = try ServeCommand.parse(configured.arguments)
        } catch {
            let message =
                ServeCommand.message(for: error).split(separator: "\n").first.map(String.init) ?? "wrong usage"
            throw CommandFailure(.usage, configured.attributed(PrintableText.of(message)))
        }
        do {
            try command.check()
        } catch let failure as CommandFailure {
            throw CommandFailure(failure.status, failure.message.map(configured.attributed))
        }
        return (command, configured)
    }

    /// Says everything that is wrong with the file, a line each.
    ///
    /// - Returns: the file's path.
    /// - Throws: `CommandFailure` for the last thing.
    func check() async throws -> String? {
        if let file = try path.map({ try ConfigurationFile(path: $0) }) {
            for complaint in file.complaints.dropLast() { Console.error("skynode: \(complaint)") }
            if let last = file.complaints.last { throw CommandFailure(.usage, last) }
        }
        _ = try await read()
        return path
    }
}
