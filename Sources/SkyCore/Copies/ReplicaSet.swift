/// The replicas that decide together what a journal holds. It changes in two batches, as Raft's does (joint consensus): the
/// first names the new members and the former ones, and from then on a majority of both must agree; the second, when the
/// first is committed, drops the former ones.
struct ReplicaSet: Hashable, Codable, Sendable {
    /// The members. The one that stands first after a loss comes first.
    var members: [ReplicaID]
    /// The members before the change that is under way; empty if none is.
    var former: [ReplicaID] = []

    /// The most members. Five keep a journal through the loss of two.
    static let limit = 5

    /// Everybody who is asked.
    var everyone: [ReplicaID] { members + former.filter { !members.contains($0) } }

    /// Whether these are enough to decide.
    func isQuorum(_ replicas: Set<ReplicaID>) -> Bool {
        ReplicaSet.isMajority(replicas, of: members) && (former.isEmpty || ReplicaSet.isMajority(replicas, of: former))
    }

    private static func isMajority(_ replicas: Set<ReplicaID>, of members: [ReplicaID]) -> Bool {
        2 * members.count(where: replicas.contains) > members.count
    }

    /// The highest number that a quorum has reached.
    ///
    /// - Parameter reached: how far each replica is known to be.
    func committed(_ reached: [ReplicaID: UInt64]) -> UInt64 {
        func reachedByMajority(of members: [ReplicaID]) -> UInt64 {
            let numbers = members.map { reached[$0] ?? 0 }.sorted(by: >)
            return numbers.isEmpty ? 0 : numbers[numbers.count / 2]
        }
        let now = reachedByMajority(of: members)
        return former.isEmpty ? now : min(now, reachedByMajority(of: former))
    }
}
