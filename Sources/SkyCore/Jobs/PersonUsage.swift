/// What the jobs of one person take.
package struct PersonUsage: Hashable, Codable, Sendable {
    package var name: String
    /// How many jobs there are, with those that have ended.
    package var jobs = 0
    /// How many of them go on.
    package var active = 0
    /// About how many bytes are stored of all of them.
    package var bytes = 0

    package init(_ name: String) { self.name = name }

    static func += (left: inout PersonUsage, right: PersonUsage) {
        left.jobs += right.jobs
        left.active += right.active
        left.bytes += right.bytes
    }
}
