import ArgumentParser

/// A duration on the command line.
struct DurationArgument: ExpressibleByArgument {
    var duration: Duration

    init(_ duration: Duration) {
        self.duration = duration
    }

    init?(argument: String) {
        guard let duration = DurationText.parse(argument) else { return nil }
        self.duration = duration
    }

    var defaultValueDescription: String { "\(DurationText.seconds(duration, decimals: 0))s" }
}
