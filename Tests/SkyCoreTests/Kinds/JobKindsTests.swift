import Testing

@testable import SkyCore

/// The list of kinds.
@Suite struct JobKindsTests {
    @Test func `no two kinds have the same name on the wire`() {
        let requests = JobKinds.builtIn.map { $0.request.name }
        var work: [String] = []
        var results: [String] = []
        var events = ["completed", "retrying", "failed", "ended"]
        for kind in JobKinds.builtIn {
            for type in kind.work { work += type.cases }
            for type in kind.results { results += type.cases }
            for type in kind.events { events += type.cases }
        }
        for names in [requests, work, results, events] { #expect(Set(names).count == names.count, "\(names)") }
        #expect(requests == ["simulate", "sky", "compare"])
    }
}
