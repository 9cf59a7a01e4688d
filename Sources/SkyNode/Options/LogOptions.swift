public import ArgumentParser
public import Logging

/// Logs of a command or daemon.
struct LogOptions: ParsableArguments {
    @Option(
        name: .customLong("log-level"),
        help: ArgumentHelp("trace, debug, info, notice, warning, error or critical.", valueName: "level"))
    var logLevel: Logger.Level?

    func logger(_ label: String, default level: Logger.Level) -> Logger {
        var logger = Logger(label: label) { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = logLevel ?? level
        return logger
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
