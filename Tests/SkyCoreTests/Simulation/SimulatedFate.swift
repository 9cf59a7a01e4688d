import SkyCore
import Transport

/// What becomes of an attempt when it is left alone.
enum SimulatedFate {
    case success, crash
    case failure(AttemptFailure)

    var failure: AttemptFailure? {
        switch self {
        case .success: nil
        // Where the whole node must not die, only the worker does.
        case .crash: .fault("the worker died")
        case .failure(let failure): failure
        }
    }
}

extension SimulatedCluster {
    /// Most tasks are well; some have a nature of their own, which is the same at every attempt, and any may have bad luck.
    mutating func fate(of attempt: AttemptID, on node: NodeID) -> SimulatedFate {
        var nature = SplitMix64(seed: attempt.job.rawValue &+ UInt64(attempt.task.index) &* 7919)
        switch nature.next() % 100 {
        case 0, 1: return .crash
        case 2: return .failure(.permanent("bad input"))
        case 3: return .failure(.fault("always fails"))
        case 4...8:
            // An input that about every second node can reach.
            let isReachable = (node.rawValue ^ nature.next()) % 2 == 0
            if !isReachable { return .failure(.unavailable("no such file")) }
        default: break
        }
        return chance(8) ? .failure(.fault("bad luck")) : .success
    }
}
