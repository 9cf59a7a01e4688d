import ArgumentParser
import Transport

/// A command that a file and environment variables configure, too: `skynode serve`.
protocol ConfiguredCommand: ParsableCommand {
    /// Checks what can only be checked when all settings are put together.
    ///
    /// - Throws: `CommandFailure` with the first thing that is wrong.
    func check() throws
    /// All faults that `check` would find one after the other, and other faults that are known before a start.
    func problems() -> [String]
    /// The settings that a running node can take over.
    func changeable() throws -> NodeChange
}

/// The sources of a command's settings: command line, environment and file.
struct ConfigurationSource<Command: ConfiguredCommand> {
    /// The arguments after the command's name.
    let arguments: [String]
    let environment: [String: String]
    /// The path of the file; `nil` for none.
    let path: String?

    /// Reads all sources.
    ///
    /// - Throws: `CommandFailure` with the first fault and its place.
    func read() throws -> (command: Command, configured: ConfiguredArguments) {
        let file = try path.map { try ConfigurationFile(path: $0) }
        if let complaint = file?.complaints.first { throw CommandFailure(.usage, complaint) }
        let configured = try ConfiguredArguments(given: arguments, environment: environment, file: file)
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

    /// All faults of the configuration, each with its place. The faults of the file come first, then those of the variables and of
    /// all settings together.
    ///
    /// - Throws: `CommandFailure` where the file cannot be read.
    func problems() throws -> [String] {
        let file = try path.map { try ConfigurationFile(path: $0) }
        var problems = file?.complaints ?? []
        problems += ConfiguredArguments.problems(environment)
        // The value of a misspelt key or variable is skipped here, because the misspelling has been reported.
        let known = environment.filter { name, _ in
            ConfiguredArguments.problems([name: environment[name] ?? ""]).isEmpty
        }
        let configured = try ConfiguredArguments(given: arguments, environment: known, file: file)
        // Each value is parsed on its own, because the parser stops at the first that it cannot read.
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

    /// Prints all faults of the configuration, one in each line, and their number.
    ///
    /// - Returns: the file's path.
    /// - Throws: `CommandFailure` with the last line, where there are faults.
    func check() throws -> String? {
        let problems = try problems()
        guard let last = problems.last else { return path }
        guard problems.count > 1 else { throw CommandFailure(.usage, last) }
        for problem in problems { Console.error("skynode: \(problem)") }
        throw CommandFailure(.usage, "\(problems.count) problems")
    }
}
