@testable import SkyCore
@testable import Transport

/// A coordinator among nodes that say anything, submitters that ask for anything, a disk that comes and goes, and a journal that
/// somebody else has written. The target drives `CoordinatorCore` as `Coordinator` does, with the same doors before it.
enum CoordinatorTarget: FuzzTarget {
    static let name = "coordinator"
    /// The time of sixty steps, and of the catalogues that are written. Each decision by itself has to be brief.
    static let limit = RunLimit(nanoseconds: 2_000_000_000)

    static func run(_ input: FuzzInput) {
        var cluster = HostileCluster(input)
        // These are enough for a job to come to its end in between.
        for _ in 0..<64 where !cluster.input.isEmpty { cluster.step() }
        cluster.look()
        cluster.fetchResults()
        cluster.checkSizes()
    }

    /// Each kind of job, from its submission through some rounds of honest work to its results. Then come the same with damage in
    /// what a node says of one of its tasks.
    static func seeds() -> [[UInt8]] {
        let kinds: [UInt8] = [0, 2, 3, 7, 11, 15, 19, 35, 99, 131, 195, 227]
        var seeds: [[UInt8]] = [(0..<64).map { $0 }, (0..<200).map { $0 &* 7 }]
        for kind in kinds {
            let submission: [UInt8] = [0, kind, 0, 0, 0, 0]
            seeds.append(submission + work(9) + [HostileCluster.lookStep])
            for rounds in 0..<8 {
                let round = UInt8(rounds)
                let damage: [UInt8] = [4, 0, 0, 2, 1, round, 17 &* round, 3, 5, 9, 0, 0]
                seeds.append(submission + work(rounds) + damage + work(6))
            }
        }
        return seeds
    }

    private static func work(_ rounds: Int) -> [UInt8] { [UInt8](repeating: HostileCluster.workStep, count: rounds) }
}
