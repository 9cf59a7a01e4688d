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

    private func line(
        _ reports: inout BeaconReports, _ milliseconds: Int64, node: UInt64 = 1, at seconds: Double
    ) -> String? {
        reports.line(
            .stale(milliseconds: milliseconds), beacon: .sample(node: node), from: "10.0.0.1", now: .seconds(seconds))
    }

    @Test func `a wrong clock is reported once for each node, with its second beacon`() {
        var reports = BeaconReports(own: own)
        #expect(line(&reports, 45_600, at: 0) == nil)
        #expect(line(&reports, 45_700, at: 0.5) == nil, "it may have waited with the first")
        #expect(line(&reports, 45_650, at: 4)?.contains("anna is 45 s behind") == true)
        #expect(line(&reports, 45_600, at: 8) == nil)
        #expect(line(&reports, -60_000, node: 2, at: 8) == nil)
        #expect(line(&reports, -60_000, node: 2, at: 28)?.contains("60 s ahead") == true)
    }

    @Test func `beacons that have waited in the socket of a frozen node blame no clock`() {
        var reports = BeaconReports(own: own)
        for thaw in [50.0, 60] {
            for (index, age) in stride(from: 47_000, to: 30_000, by: -4000).enumerated() {
                #expect(line(&reports, Int64(age), at: thaw + Double(index) / 1000) == nil)
            }
            // The next one comes at once, and counts.
            reports.counted(NodeID(rawValue: 1))
        }
        // One that was held up for long by a busy node.
        #expect(line(&reports, 40_000, at: 100) == nil)
        #expect(line(&reports, 36_000, at: 103) == nil)
        // The clock is wrong from then on.
        #expect(line(&reports, 90_000, at: 110) == nil)
        #expect(line(&reports, 90_000, at: 114) != nil)
    }

    @Test func `doubts about clocks are bounded, and begin anew after an hour`() {
        var reports = BeaconReports(own: own)
        for node in 0..<UInt64(BeaconReports.doubtLimit) {
            #expect(line(&reports, 45_000, node: 100 + node, at: 1) == nil)
        }
        for second in [2.0, 6] { #expect(line(&reports, 45_000, at: second) == nil, "there is no place") }
        #expect(line(&reports, 45_000, at: 3601) == nil)
        #expect(line(&reports, 45_000, at: 3605) != nil)
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
