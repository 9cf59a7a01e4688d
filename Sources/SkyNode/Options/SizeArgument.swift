import ArgumentParser

/// A number of bytes on the command line: "512M", "4G"; K, M, G and T are powers of 1024, as df -h and systemd have them.
struct SizeArgument: ExpressibleByArgument {
    var bytes: UInt64

    init?(argument: String) {
        var digits = argument[...]
        var shift: UInt64 = 0
        if let unit = argument.last, let place = "KMGT".firstIndex(of: Character(unit.uppercased())) {
            digits = argument.dropLast()
            shift = UInt64("KMGT".distance(from: "KMGT".startIndex, to: place) + 1) * 10
        }
        guard let number = UInt64(digits), number > 0, number <= UInt64.max >> shift else { return nil }
        bytes = number << shift
    }
}
