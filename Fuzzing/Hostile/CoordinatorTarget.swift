@testable import SkyCore
@testable import Transport

/// A coordinator among nodes that say anything, submitters that ask for anything, a disk that comes and goes, and a journal that
/// somebody else has written: as `Coordinator` drives `CoordinatorCore`, with the same doors before it.
enum CoordinatorTarget: FuzzTarget {
    static let name = "coordinator"
    static let limit = RunLimit.brief

    static func run(_ input: FuzzInput) {
        var cluster = HostileCluster(input)
        // Enough for a job to come to its end in between.
        for _ in 0..<64 where !cluster.input.isEmpty { cluster.step() }
        cluster.look()
        cluster.fetchResults()
        cluster.checkSizes()
    }

    static func seeds() -> [[UInt8]] {
        // Each kind of job, from its submission through some rounds of honest work to its results; and the same with what a
        // node says of its tasks damaged in turn.
        let steps: [UInt8] = (0..<32).map { $0 }
        let kinds: [UInt8] = [0, 2, 3, 7, 11, 15, 19, 35, 99, 131, 195, 227]
        let honest = kinds.map { kind in
            [0, kind, 0, 0, 0, 0] + [UInt8](repeating: HostileCluster.workStep, count: 9) + [HostileCluster.lookStep]
        }
        let damaged = kinds.flatMap { kind in
            (0..<8).map { round in
                [0, kind, 0, 0, 0, 0] + [UInt8](repeating: HostileCluster.workStep, count: Int(round))
                    + [4, 0, 0, 2, 1, UInt8(round), UInt8(17 &* round), 3, 5, 9, 0, 0]
                    + [UInt8](repeating: HostileCluster.workStep, count: 6)
            }
        }
        return honest + damaged + [steps, steps.flatMap { [$0, 1, 2, 3] }]
    }
}
