import Foundation
import Logging
import NIOConcurrencyHelpers

/// The log of a daemon, one line for each event, on standard error.
///
/// All loggers of the process have one level, which can change while it runs.
struct ServiceLogHandler: LogHandler {
    /// How a line looks.
    enum Style: Sendable {
        /// With the time, for a terminal or a file.
        case plain
        /// With the priority that journald takes from a line (sd-daemon(3)) and without a time: it has its own.
        case journal
        /// One object a line.
        case json
    }

    /// The level of a process's loggers.
    final class Threshold: Sendable {
        private let box: NIOLockedValueBox<Logger.Level>

        init(_ level: Logger.Level) { box = NIOLockedValueBox(level) }

        var level: Logger.Level {
            get { box.withLockedValue { $0 } }
            set { box.withLockedValue { $0 = newValue } }
        }
    }

    let label: String
    let style: Style
    let threshold: Threshold
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    /// Where lines go.
    var write: @Sendable (String) -> Void = { Console.error($0) }

    init(label: String, style: Style, threshold: Threshold) {
        (self.label, self.style, self.threshold) = (label, style, threshold)
    }

    var logLevel: Logger.Level {
        get { threshold.level }
        set { threshold.level = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let context = metadata.merging(metadataProvider?.get() ?? [:]) { _, new in new }
        let all = context.merging(event.metadata ?? [:]) { _, new in new }
        // Text of several lines would be several events.
        let facts = all.sorted { $0.key < $1.key }
        let message = event.message.description
        switch style {
        case .plain:
            write(
                "\(ServiceLogHandler.time) \(event.level) \(label)\(ServiceLogHandler.text(facts)): \(Self.line(message))"
            )
        case .journal:
            write("<\(event.level.priority)>\(Self.line(message))\(ServiceLogHandler.text(facts))")
        case .json:
            write(json(event.level, message, facts))
        }
    }

    private static var time: String { Date().formatted(.iso8601) }

    private static func text(_ facts: [(key: String, value: Logger.MetadataValue)]) -> String {
        facts.map { " \($0.key)=\(line("\($0.value)"))" }.joined()
    }

    private static func line(_ text: String) -> String {
        text.contains(where: \.isNewline) ? text.split(whereSeparator: \.isNewline).joined(separator: " ") : text
    }

    private func json(
        _ level: Logger.Level, _ message: String, _ facts: [(key: String, value: Logger.MetadataValue)]
    ) -> String {
        var line = Dictionary(facts.map { ($0.key, "\($0.value)") }) { one, _ in one }
        (line["time"], line["level"], line["message"]) = (ServiceLogHandler.time, level.rawValue, message)
        return (try? JSONLine.encode(line)) ?? "{}"
    }
}

extension Logger.Level {
    /// The priority of syslog(3).
    var priority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
