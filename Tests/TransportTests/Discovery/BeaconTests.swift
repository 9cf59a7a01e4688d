import NIOCore
import Testing

@testable import Transport

@Suite struct BeaconTests {
    private let beacon = Beacon(
        .solicit, cluster: "skynet", node: NodeID(rawValue: 0xABCD), validity: 30, port: 7420, host: "", name: "anna")
    private var source: SocketAddress {
        get throws { try SocketAddress(ipAddress: "192.168.1.7", port: 50_000) }
    }

    @Test func `a beacon survives the wire and stays small`() {
        let bytes = beacon.encoded()
        #expect(Beacon(bytes) == beacon)
        #expect(bytes.readableBytes < Beacon.sizeLimit)
    }

    @Test func `the address is the sender's, unless it names another`() throws {
        #expect(beacon.address(from: try source) == .hostPort(host: "192.168.1.7", port: 7420))
        var named = beacon
        named.host = "anna.example"
        #expect(named.address(from: try source) == .hostPort(host: "anna.example", port: 7420))
        named.port = 0
        #expect(named.address(from: try source) == nil, "who only asks is not to be dialled")
    }

    @Test func `a host may be an IPv6 literal`() throws {
        var named = beacon
        named.host = "fd00::2"
        #expect(Beacon(named.encoded()) == named)
    }

    @Test func `the longest host and name survive`() {
        // Found by the fuzzer: what is more than 200 bytes long was cut.
        var long = beacon
        long.host = String(repeating: "h", count: 253)
        long.name = String(repeating: "n", count: Hello.nameLimit)
        #expect(Beacon(long.encoded()) == long)
        #expect(long.encoded().readableBytes <= Beacon.sizeLimit)
    }

    @Test(arguments: ["a\u{9b}2J", "a b", "[a]"]) func `a host that is none makes no beacon`(host: String) {
        var bad = beacon
        bad.host = host
        #expect(Beacon(bad.encoded()) == nil)
    }

    @Test func `damaged, long and foreign datagrams are no beacons`() {
        let bytes = Array(beacon.encoded().readableBytesView)
        for length in 0..<bytes.count { #expect(Beacon(ByteBuffer(bytes: bytes.prefix(length))) == nil) }
        #expect(Beacon(ByteBuffer(bytes: bytes + [0])) == nil)
        #expect(Beacon(ByteBuffer(repeating: 0x53, count: 2000)) == nil)
        #expect(Beacon(ByteBuffer(string: "M-SEARCH * HTTP/1.1\r\n")) == nil)
    }

    @Test func `random changes of a beacon never crash and never give a bad name`() {
        var generator = SeededGenerator(seed: 5)
        let bytes = Array(beacon.encoded().readableBytesView)
        for _ in 0..<50_000 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                changed[Int.random(in: 0..<changed.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            if let read = Beacon(ByteBuffer(bytes: changed)) { #expect(Hello.isValidName(read.name)) }
        }
    }

    @Test func `a newcomer beacons a few times at once and then every few seconds`() {
        var schedule = BeaconSchedule(generator: SeededGenerator(seed: 1))
        var now = Duration.zero
        var step = schedule.handle(.started, now: now)
        var sent = [step.send]
        while now < .seconds(10) {
            now += step.pause
            step = schedule.handle(.due, now: now)
            sent.append(step.send)
        }
        #expect(sent.prefix(3) == [.solicit, .solicit, .announce])
        #expect((5...8).contains(sent.count))
    }

    @Test func `a question is answered soon, a flood of questions by a trickle`() {
        var schedule = BeaconSchedule(generator: SeededGenerator(seed: 1))
        _ = schedule.handle(.started, now: .zero)
        let first = schedule.handle(.solicited, now: .seconds(1))
        #expect(first.send == nil && first.pause <= BeaconSchedule.answerSpread)
        _ = schedule.handle(.due, now: .seconds(1) + first.pause)
        let next = schedule.handle(.solicited, now: .seconds(1) + first.pause)
        #expect(next.pause >= BeaconSchedule.answerInterval)
    }

    @Test(arguments: ["239.1.2.3:7000", "224.0.0.99:1"]) func `multicast groups are read`(text: String) {
        #expect(MulticastSettings(text) != nil)
    }

    @Test(arguments: ["10.0.0.1:7000", "239.1.2.3", "239.1.2.3:0", "239.1.2:7", "ff02::1:7", "", "239.1.2.3:99999"])
    func `what is no multicast group is refused`(text: String) {
        #expect(MulticastSettings(text) == nil)
    }
}
