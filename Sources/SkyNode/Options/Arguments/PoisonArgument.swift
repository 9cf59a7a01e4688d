import ArgumentParser
import SkyCore

/// A task that is to go wrong, on the command line: "7", "7:hang".
struct PoisonArgument: ExpressibleByArgument {
    var task: Int
    var kind = Poison.crash

    init?(argument: String) {
        let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let task = Int(parts[0]), task > 0 else { return nil }
        self.task = task
        guard parts.count == 2 else { return }
        guard let kind = Poison(rawValue: String(parts[1])) else { return nil }
        self.kind = kind
    }
}
