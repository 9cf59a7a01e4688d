/// The lines that are logged about each neighbour once a day, as a value. They are bounded: a neighbour that scans our port, or
/// makes up reasons, fills neither memory nor log, and does not keep back lines about others.
package struct DailyReports {
    static let day = Duration.seconds(86_400)
    /// How many different lines about one neighbour, and how many neighbours, there are in a day.
    static let textLimit = 20
    static let peerLimit = 1000

    private var said: [String: Set<String>] = [:]
    private var since = Duration.zero

    package init() {}

    /// Whether a line about a neighbour, or about anything else that has a name, was not logged today.
    package mutating func isDue(_ text: String, of peer: String, now: Duration) -> Bool {
        if now - since >= DailyReports.day { (said, since) = ([:], now) }
        guard said[peer] != nil || said.count < DailyReports.peerLimit,
            said[peer, default: []].count < DailyReports.textLimit
        else { return false }
        return said[peer, default: []].insert(text).inserted
    }
}
