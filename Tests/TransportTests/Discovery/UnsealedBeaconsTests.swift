import NIOCore
import Testing

@testable import Transport

/// What beacons bring about that anybody can send.
@Suite struct UnsealedBeaconsTests {
    private func source(_ ip: String) throws -> SocketAddress { try SocketAddress(ipAddress: ip, port: 50_000) }

    private func beacon(port: UInt16, host: String = "", places: [Beacon.Place] = [.source]) -> Beacon {
        var beacon = Beacon.sample()
        (beacon.port, beacon.host, beacon.places) = (port, host, places)
        return beacon
    }

    @Test func `only the source address of an unsealed beacon is dialled, whatever it names`() throws {
        let source = try source("10.0.0.66")
        let victim = try #require(IPAddress("10.0.0.1"))
        #expect(beacon(port: 7420).addressOfSource(source) == .hostPort(host: "10.0.0.66", port: 7420))
        #expect(
            beacon(port: 7420, host: "victim.example").addressOfSource(source)
                == .hostPort(host: "10.0.0.66", port: 7420))
        #expect(beacon(port: 7420, places: [.address(victim)]).addressOfSource(source) == nil)
        #expect(
            beacon(port: 7420, places: [.address(victim), .source]).addressOfSource(source)
                == .hostPort(host: "10.0.0.66", port: 7420))
        #expect(beacon(port: 0).addressOfSource(source) == nil, "a node that only asks")
    }

    @Test func `ports of system services are not dialled`() throws {
        var unsealed = UnsealedBeacons()
        let source = try source("10.0.0.66")
        #expect(unsealed.admits(source, now: .zero) == true)
        for port: UInt16 in [1, 22, 25, 443, 1023] {
            #expect(unsealed.suggests(beacon(port: port), from: source, now: .zero) == false)
        }
        for port: UInt16 in [1024, 7420, .max] {
            #expect(unsealed.suggests(beacon(port: port), from: source, now: .zero) == true)
        }
    }

    @Test func `a source can suggest few addresses, each once a second, without harm to others`() throws {
        var unsealed = UnsealedBeacons()
        let (flood, other) = (try source("10.0.0.66"), try source("10.0.0.2"))
        var (admitted, suggested) = (0, 0)
        // Ten seconds of ten thousand a second.
        for number in 0..<100_000 {
            let now = Duration.microseconds(100 * number)
            guard unsealed.admits(flood, now: now) else { continue }
            admitted += 1
            if unsealed.suggests(beacon(port: UInt16(2000 + number / 2)), from: flood, now: now) { suggested += 1 }
        }
        #expect((128...300).contains(admitted) && suggested == UnsealedBeacons.portLimit)
        let end = Duration.seconds(10)
        #expect(unsealed.admits(other, now: end) == true)
        #expect(unsealed.suggests(beacon(port: 7420), from: other, now: end) == true)
        #expect(unsealed.admits(other, now: end) == true)
        #expect(unsealed.suggests(beacon(port: 7420), from: other, now: end) == false)
        let later = end + .seconds(1)
        #expect(unsealed.admits(other, now: later) == true)
        #expect(unsealed.suggests(beacon(port: 7420), from: other, now: later) == true)
    }

    @Test func `a silent source is forgotten with its ports`() throws {
        var unsealed = UnsealedBeacons()
        for number in 0..<UnsealedBeacons.sourceLimit {
            #expect(unsealed.admits(try source("10.0.\(number / 256).\(number % 256)"), now: .zero) == true)
        }
        let newcomer = try source("10.9.9.9")
        #expect(unsealed.admits(newcomer, now: .seconds(1)) == false)
        #expect(unsealed.admits(newcomer, now: .seconds(700)) == true)
        for port in 2000..<2000 + UInt16(UnsealedBeacons.portLimit) {
            #expect(unsealed.suggests(beacon(port: port), from: newcomer, now: .seconds(700)) == true)
        }
        #expect(unsealed.suggests(beacon(port: 3000), from: newcomer, now: .seconds(701)) == false)
        #expect(unsealed.suggests(beacon(port: 3000), from: newcomer, now: .seconds(1400)) == true)
    }

    @Test func `many nodes on one machine find each other`() throws {
        var unsealed = UnsealedBeacons()
        let here = try source("127.0.0.1")
        for port: UInt16 in 2000..<3000 {
            #expect(unsealed.admits(here, now: .zero) == true)
            #expect(unsealed.suggests(beacon(port: port), from: here, now: .zero) == true)
        }
    }

    @Test func `a seal without a secret is not trusted`() throws {
        #expect(!BeaconSeal(cluster: "skynet", security: .none).isSecret)
        let files = CertificateFiles(certificate: "a", privateKey: "b", trustRoots: "c")
        #expect(!BeaconSeal(cluster: "skynet", security: .certificates(files)).isSecret)
        #expect(BeaconSeal(cluster: "skynet", security: .clusterKey(try ClusterKey.make(now: .now))).isSecret)
    }

    @Test func `a beacon that claims to be valid for hours occupies a place for minutes only`() {
        var filter = BeaconFilter(own: NodeID(rawValue: 1))
        let day: UInt64 = 86_400_000
        for node in 0..<UInt64(BeaconFilter.nodeLimit) {
            var beacon = Beacon.sample(node: 10 + node)
            (beacon.sent, beacon.validity) = (day, .max)
            #expect(filter.fault(beacon, now: day) == nil)
        }
        var late = Beacon.sample(node: 5)
        late.sent = day + 301_000
        #expect(filter.fault(late, now: day + 301_000) == nil)
    }
}
