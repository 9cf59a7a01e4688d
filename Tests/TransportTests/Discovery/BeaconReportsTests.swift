import Testing

@testable import Transport

@Suite struct BeaconReportsTests {
    private let own = ClusterMark(name: 1, key: 2)

    private func foreign(_ name: UInt64, key: UInt64 = 2) -> BeaconFault { .foreign(ClusterMark(name: name, key: key)) }

    @Test func `each kind of trouble is logged once a day`() {
        var reports = BeaconReports(own: own)
        let troubles: [(BeaconFault, String?)] = [
            (foreign(9), "another cluster is here"), (foreign(1, key: 9), "nodes with another cluster key are here"),
            (foreign(1, key: 0), "nodes without a cluster key are here"),
            (.malformed, nil), (.oversized, nil), (.own, nil), (.replayed, nil),
        ]
        for (index, (fault, words)) in troubles.enumerated() {
            #expect(reports.line(fault, beacon: nil, from: "10.0.0.\(index)", now: .zero) == words)
        }
        for hour in 0..<23 {
            for (fault, _) in troubles {
                #expect(
                    reports.line(fault, beacon: nil, from: "10.0.1.1", now: .seconds(3600 * hour)) == nil,
                    "reported already")
            }
        }
        #expect(reports.line(troubles[0].0, beacon: nil, from: "10.0.0.1", now: .seconds(100_000)) == troubles[0].1)
    }

    @Test func `a wrong clock is reported once for each node`() {
        var reports = BeaconReports(own: own)
        func line(_ milliseconds: Int64, node: UInt64) -> String? {
            reports.line(.stale(milliseconds: milliseconds), beacon: .sample(node: node), from: "10.0.0.1", now: .zero)
        }
        #expect(line(45_600, node: 1)?.contains("anna is 45 s behind") == true)
        #expect(line(48_000, node: 1) == nil)
        #expect(line(-60_000, node: 2)?.contains("60 s ahead") == true)
    }

    @Test func `a source that invents cluster marks does not suppress the reports on others`() {
        var reports = BeaconReports(own: own)
        let made = (0..<10_000).compactMap {
            reports.line(foreign(100 + $0), beacon: nil, from: "10.0.0.66", now: .milliseconds(Int($0)))
        }
        #expect((1...2).contains(made.count))
        // Another source with the same kind of trouble is reported, and so is another kind.
        #expect(reports.line(foreign(1, key: 9), beacon: nil, from: "10.0.0.2", now: .seconds(11)) != nil)
        #expect(reports.line(.forged, beacon: nil, from: "10.0.0.3", now: .seconds(11)) != nil)
    }

    @Test func `forged sources suppress only one kind of report, for an hour`() {
        var reports = BeaconReports(own: own)
        let made = (0..<10_000).compactMap {
            reports.line(
                foreign(100 + $0), beacon: nil, from: "10.0.\($0 / 256).\($0 % 256)", now: .milliseconds(Int($0)))
        }
        #expect((1...4).contains(made.count))
        #expect(reports.line(.forged, beacon: nil, from: "10.1.0.3", now: .seconds(11)) != nil)
        #expect(reports.line(.crowded, beacon: nil, from: "10.1.0.3", now: .seconds(11)) != nil)
        #expect(reports.line(.otherVersion(7), beacon: nil, from: "10.1.0.4", now: .seconds(11)) != nil)
        #expect(reports.line(foreign(7), beacon: nil, from: "10.1.0.5", now: .seconds(3600)) != nil)
    }
}
