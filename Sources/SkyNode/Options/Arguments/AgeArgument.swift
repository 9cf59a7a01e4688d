import ArgumentParser

/// How long ago something is, on the command line: "7d", "12h".
struct AgeArgument: ExpressibleByArgument {
    let duration: Duration

    init?(argument: String) {
        if argument.hasSuffix("d") {
            // The longest age is a hundred years.
            guard let days = Double(argument.dropLast()), (0...36_500).contains(days) else { return nil }
            duration = .seconds(days * 86_400)
        } else if argument.hasSuffix("h") {
            guard let hours = Double(argument.dropLast()), (0...876_000).contains(hours) else { return nil }
            duration = .seconds(hours * 3600)
        } else if let short = DurationArgument(argument: argument) {
            duration = short.duration
        } else {
            return nil
        }
    }
}
