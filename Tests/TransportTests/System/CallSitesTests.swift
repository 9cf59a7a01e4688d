import Distributed
import Foundation
import Synchronization
import Testing

@testable import Transport

/// Methods that two threads call for the first time at once.
struct CallSitesTests {
    private distributed actor Twins: ClusterActor {
        typealias ActorSystem = ClusterSystem
        static let methods = MethodTable(
            Dictionary(uniqueKeysWithValues: CallSitesTests.targets.map { ("wire-\($0)", $0) }))
    }

    private final class Start: Sendable {
        let arrived = Atomic(0)
    }

    /// Names of one length, which want the same place.
    fileprivate static let targets = ["target-a", "target-b"]

    /// The wire name of a method, looked up by a thread of its own, in the same moment as by the other one. Tasks of the pool would
    /// mostly come one after the other.
    private func name(of target: String, in sites: CallSites, _ start: Start) async -> String? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                start.arrived.add(1, ordering: .sequentiallyConsistent)
                // On a busy machine the other one may wait for this thread's core.
                while start.arrived.load(ordering: .sequentiallyConsistent) < 2 { sched_yield() }
                continuation.resume(returning: try? sites.site(Twins.self, target).method)
            }
        }
    }

    @Test(.timeLimit(.minutes(1))) func `each method keeps its own name, whoever is first`() async {
        for _ in 0..<1000 {
            let (sites, start) = (CallSites(), Start())
            async let one = name(of: Self.targets[0], in: sites, start)
            async let other = name(of: Self.targets[1], in: sites, start)
            let found = await [one, other]
            #expect(found == Self.targets.map { "wire-\($0)" })
        }
    }

    @Test func `a method that is not declared is refused`() {
        #expect(throws: TransportError.self) { _ = try CallSites().site(Twins.self, "target-c") }
    }
}
