import Testing

@testable import SkyCore
@testable import SkyJobs

/// The list of kinds.
@Suite struct JobKindsTests {
    @Test func `no two kinds have the same name on the wire`() {
        let requests = InstalledKinds.all.map { $0.request.name }
        var work: [String] = []
        var results: [String] = []
        var events = ["completed", "retrying", "failed", "ended"]
        for kind in InstalledKinds.all {
            for type in kind.work { work += type.cases }
            for type in kind.results { results += type.cases }
            for type in kind.events { events += type.cases }
        }
        for names in [requests, work, results, events] { #expect(Set(names).count == names.count, "\(names)") }
        #expect(requests == ["simulate", "sky", "compare"])
    }
}
