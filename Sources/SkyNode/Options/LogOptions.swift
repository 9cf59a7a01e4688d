public import ArgumentParser
public import Logging

/// Logs of a command or daemon.
struct LogOptions: ParsableArguments {
    @Option(ServeKeys.logLevel.key) var logLevel: Logger.Level?

    func logger(_ label: String, default level: Logger.Level) -> Logger {
        var logger = Logger(label: label) { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = logLevel ?? level
        return logger
    }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
