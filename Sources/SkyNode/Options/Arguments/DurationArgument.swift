import ArgumentParser

/// A duration on the command line. It needs a unit, because nobody can tell whether 10 means seconds or minutes.
struct DurationArgument: ExpressibleByArgument {
    var duration: Duration

    init(_ duration: Duration) {
        self.duration = duration
    }

    init?(argument: String) {
        guard argument == "0" || argument.last?.isLetter == true, let duration = DurationText.parse(argument) else {
            return nil
        }
        self.duration = duration
    }

    var defaultValueDescription: String { "\(DurationText.seconds(duration, decimals: 0))s" }
}
