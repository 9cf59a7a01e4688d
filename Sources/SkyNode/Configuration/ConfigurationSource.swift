import ArgumentParser
import Transport

/// A command that a file and variables configure, too: `skynode serve`.
protocol ConfiguredCommand: ParsableCommand {
    /// Looks at what only shows when all is put together.
    ///
    /// - Throws: `CommandFailure` with the first thing that is wrong.
    func check() throws
    /// All that `check` would stop at, one after the other, and what else is known before a start.
    func problems() -> [String]
    /// What a running node can take over.
    func changeable() throws -> NodeChange
}

/// Where a command is told what to do: command line, environment, file.
struct ConfigurationSource<Command: ConfiguredCommand> {
    /// Behind `serve`.
    let arguments: [String]
    let environment: [String: String]
    /// Of the file; `nil` for none.
    let path: String?

    /// Reads all of it.
    ///
    /// - Throws: `CommandFailure` with the first thing that is wrong, and where.
    func read() async throws -> (command: Command, configured: ConfiguredArguments) {
        let file = try path.map { try ConfigurationFile(path: $0) }
        if let complaint = file?.complaints.first { throw CommandFailure(.usage, complaint) }
        let configured = try await ConfiguredArguments(given: arguments, environment: environment, file: file)
        let command: Command
        do {
            command = try Command.parse(configured.arguments)
        } catch {
            throw CommandFailure(.usage, configured.attributed(UsageWords(error, of: Command.self).message))
        }
        do {
            try command.check()
        } catch let failure as CommandFailure {
            throw CommandFailure(failure.status, failure.message.map(configured.attributed))
        }
        return (command, configured)
    }

    /// Everything that is wrong with the configuration, each with where that was said; the file first, then what is made of
    /// all.
    ///
    /// - Throws: `CommandFailure` where the file cannot be read.
    func problems() async throws -> [String] {
        let file = try path.map { try ConfigurationFile(path: $0) }
        var problems = file?.complaints ?? []
        problems += ConfiguredArguments.problems(environment)
        // What a misspelt key or variable says is passed over here; it has been told.
        let known = environment.filter { name, _ in
            ConfiguredArguments.problems([name: environment[name] ?? ""]).isEmpty
        }
        let readable = file.flatMap { $0.lines.isEmpty ? nil : $0 }
        let configured = try await ConfiguredArguments(given: arguments, environment: known, file: readable)
        // Values one by one: the parser stops at the first that it cannot read.
        var sound: [String] = []
        for group in configured.groups {
            do {
                _ = try Command.parse(group)
                sound += group
            } catch {
                problems.append(configured.attributed(UsageWords(error, of: Command.self).message))
            }
        }
        if let command = try? Command.parse(sound) {
            problems += command.problems().map(configured.attributed)
        }
        var published: Set<String> = []
        return problems.filter { published.insert($0).inserted }
    }

    /// Says everything that is wrong with the configuration, a line each, and how many things that are.
    ///
    /// - Returns: the file's path.
    /// - Throws: `CommandFailure` for the last line.
    func check() async throws -> String? {
        let problems = try await problems()
        guard let last = problems.last else { return path }
        guard problems.count > 1 else { throw CommandFailure(.usage, last) }
        for problem in problems { Console.error("skynode: \(problem)") }
        throw CommandFailure(.usage, "\(problems.count) problems")
    }
}
