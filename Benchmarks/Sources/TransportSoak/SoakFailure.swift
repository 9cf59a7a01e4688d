/// Something went wrong that no amount of load excuses.
struct SoakFailure: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}
