import NIOCore
import Testing

@testable import Transport

@Suite struct NetworkSurveyTests {
    private let own = NodeID(rawValue: 1)
    private let path = BeaconPath(interface: "eth0", index: 2, address: IPAddress("10.0.0.1")!)

    private func survey() -> NetworkSurvey {
        var survey = NetworkSurvey(own: own, addresses: [IPAddress("10.0.0.1")!, IPAddress("127.0.0.1")!])
        survey.ways[path] = .init()
        return survey
    }

    private func beacon(_ node: UInt64, _ kind: Beacon.Kind = .announce, port: UInt16 = 7420, sent: UInt64 = 0)
        -> Beacon
    {
        Beacon(
            kind, cluster: ClusterMark(name: 1, key: 1), node: NodeID(rawValue: node), sequence: 1, sent: sent,
            validity: 30,
            port: port, name: "n\(node)", places: [.source, .address(IPAddress("10.9.9.9")!)])
    }

    private func source(_ ip: String) throws -> SocketAddress { try SocketAddress(ipAddress: ip, port: 40_000) }

    @Test func `a question that is heard back shows that its path is open`() throws {
        var survey = survey()
        survey.heard(.success(beacon(1, .solicit, port: 0)), from: try source("10.0.0.2"), wall: 0, at: .zero)
        #expect(survey.ways[path]?.isHeard == false)
        survey.heard(.success(beacon(1, .solicit, port: 0)), from: try source("10.0.0.1"), wall: 0, at: .zero)
        #expect(survey.ways[path]?.isHeard == true)
        #expect(survey.neighbours.isEmpty)
    }

    @Test func `a beacon counts as an answer if it comes soon after a question`() throws {
        var survey = survey()
        survey.heard(.success(beacon(2)), from: try source("10.0.0.2"), wall: 0, at: .zero)
        survey.asked(at: .seconds(1))
        survey.heard(.success(beacon(2)), from: try source("10.0.0.2"), wall: 0, at: .seconds(2))
        #expect(survey.neighbours[NodeID(rawValue: 2)]?.answered == [])
        survey.heard(.success(beacon(3)), from: try source("10.0.0.1"), wall: 0, at: .milliseconds(1100))
        survey.asked(at: .seconds(3))
        survey.heard(.success(beacon(3)), from: try source("10.0.0.1"), wall: 0, at: .milliseconds(3200))
        #expect(survey.neighbours[NodeID(rawValue: 3)]?.answered == [1, 2])
        #expect(survey.neighbours[NodeID(rawValue: 3)]?.answers == true)
        #expect(survey.neighbours[NodeID(rawValue: 3)]?.isHere == true)
        #expect(survey.neighbours[NodeID(rawValue: 2)]?.isHere == false)
    }

    @Test func `clocks are compared, addresses collected`() throws {
        var survey = survey()
        survey.heard(.success(beacon(2, sent: 90_000)), from: try source("10.0.0.2"), wall: 30_000, at: .zero)
        #expect(survey.neighbours[NodeID(rawValue: 2)]?.clock == 60_000)
        survey.heard(.success(beacon(2, sent: 10_000)), from: try source("10.0.1.2"), wall: 30_000, at: .zero)
        let neighbour = try #require(survey.neighbours[NodeID(rawValue: 2)])
        #expect(neighbour.clock == -20_000)
        #expect(
            neighbour.addresses == ["10.0.0.2", "10.9.9.9", "10.0.1.2"].map { .hostPort(host: $0, port: 7420) })
        #expect(neighbour.sources.count == 2)
    }

    @Test func `nodes that only ask or leave are not neighbours, and strangers are limited`() throws {
        var survey = survey()
        survey.heard(.success(beacon(2, .solicit, port: 0)), from: try source("10.0.0.2"), wall: 0, at: .zero)
        survey.heard(.success(beacon(2, .goodbye)), from: try source("10.0.0.2"), wall: 0, at: .zero)
        #expect(survey.neighbours.isEmpty)
        for number in 0..<200 {
            survey.heard(.failure(.otherVersion(7)), from: try source("10.0.0.\(number)"), wall: 0, at: .zero)
        }
        #expect(survey.strangers.count == NetworkSurvey.strangerLimit)
    }

    @Test func `a survey of loopback hears itself and a node that answers`() async throws {
        var settings = TestCluster.settings("a")
        let multicast = TestCluster.multicast()
        settings.multicast = multicast
        try await TestCluster.run([settings]) { systems in
            let survey = try await NetworkSurveyor.survey(
                multicast, cluster: "skynet", security: .none, isLoopbackOnly: true, listening: .seconds(1))
            #expect(survey.ways.values.map(\.isHeard) == [true])
            #expect(survey.neighbours[systems[0].node]?.answered.isEmpty == false)
            #expect(survey.neighbours[systems[0].node]?.isHere == true)
        }
    }
}
