import Distributed
import Testing

@testable import Transport

/// Methods that are called for the first time at once.
struct CallSitesTests {
    private distributed actor Twins: ClusterActor {
        typealias ActorSystem = ClusterSystem
        private static let table = MethodTable(
            CallSitesTests.targets.map { Method($0) { (twins: isolated Twins) in } })

        static var methods: MethodTable {
            CallSitesTests.meanwhile?()
            return table
        }
    }

    /// What another thread does between the moment when a lookup finds its place empty and that when it fills it.
    @TaskLocal private static var meanwhile: (@Sendable () -> Void)?

    /// Names of one length, which want the same place.
    fileprivate static let targets = ["target-a", "target-b"]

    private func name(of target: String, in sites: CallSites) -> String? {
        try? sites.site(Twins.self, target).method
    }

    @Test(arguments: [targets, targets.reversed(), [targets[0], targets[0]]])
    func `each method keeps its own name, whoever is first`(_ asked: [String]) {
        let sites = CallSites()
        let found = Self.$meanwhile.withValue({
            Self.$meanwhile.withValue(nil) { #expect(name(of: asked[1], in: sites) == asked[1]) }
        }) { name(of: asked[0], in: sites) }
        #expect(found == asked[0])
        // Both are in their places now.
        Self.$meanwhile.withValue({ Issue.record("a method was looked up again") }) {
            for target in asked { #expect(name(of: target, in: sites) == target) }
        }
    }

    @Test func `a method that is not declared is refused`() {
        #expect(throws: TransportError.self) { _ = try CallSites().site(Twins.self, "target-c") }
    }
}
