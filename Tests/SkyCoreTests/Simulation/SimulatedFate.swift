import Base
import NIOCore
import Transport

@testable import SkyCore

/// What becomes of an attempt when it is left alone.
enum SimulatedFate {
    case crash
    case outcome(AttemptOutcome)
}

extension SimulatedCluster {
    /// Most tasks are well; some have a nature of their own, which is the same at every attempt, and any may have bad luck.
    mutating func fate(of attempt: AttemptID, on host: String) -> SimulatedFate {
        var nature = SplitMix64(seed: attempt.job.rawValue &+ UInt64(attempt.task.index) &* 7919)
        switch nature.next() % 200 {
        case 0: return .crash
        case 1...3: return .outcome(.badInput("bad input"))
        case 4...6: return .outcome(.fault("always fails"))
        case 7...16:
            // An input that about every second machine can reach.
            var reach = SplitMix64(seed: nature.next() &+ UInt64(host.utf8.reduce(0) { $0 &* 31 &+ Int($1) }))
            if reach.next() % 2 == 0 { return .outcome(.unavailable("no such file")) }
        default: break
        }
        return .outcome(chance(8) ? .fault("bad luck") : .done(ByteBuffer()))
    }
}
