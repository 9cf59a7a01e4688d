import NIOConcurrencyHelpers
import Testing

@testable import Transport

@Suite(.timeLimit(.minutes(5))) struct SeedNamesTests {
    private let name = NodeAddress.hostPort(host: "seeds.example", port: 7420)
    private func address(_ number: Int) -> NodeAddress { .hostPort(host: "10.0.0.\(number)", port: 7420) }

    @Test func `new and removed addresses are reported`() {
        var names = SeedNames()
        var change = names.found([address(1), address(2)], of: name)
        #expect(change.new == [address(1), address(2)] && change.gone == [])
        change = names.found([address(2), address(3)], of: name)
        #expect(change.new == [address(3)] && change.gone == [address(1)])
        let other = NodeAddress.hostPort(host: "other.example", port: 7420)
        change = names.found([address(3)], of: other)
        #expect(change.new == [] && change.gone == [])
        change = names.found([address(2)], of: name)
        #expect(change.gone == [], "the other name stands for it")
        change = names.found([], of: name)
        #expect(change.gone == [], "as where the name is lost for a while")
    }

    @Test func `a name that is unknown is looked up again after growing pauses`() {
        var names = SeedNames()
        var generator = SeededGenerator(seed: 1)
        let pauses = (0..<12).map { _ in names.failed(name, using: &generator) }
        #expect(pauses[0] <= BackOff.first && pauses[11] >= BackOff.patient / 2)
        _ = names.found([address(1)], of: name)
        #expect(names.failed(name, using: &generator) <= BackOff.first)
    }

    @Test(arguments: [("10.0.0.1:1", false), ("[fe80::1%eth0]:1", false), ("[::1]:1", false), ("host:1", true)])
    func `names are distinguished from addresses`(text: String, isName: Bool) {
        #expect(NodeAddress(text)?.isName == isName)
    }

    @Test func `names are looked up by the system's resolver`() throws {
        let addresses = try NameLookup.addresses(of: .hostPort(host: "localhost", port: 7420))
        #expect(addresses.contains(.hostPort(host: "127.0.0.1", port: 7420)))
        #expect(throws: NameLookupError.self) {
            try NameLookup.addresses(of: .hostPort(host: "no.such.invalid", port: 1))
        }
    }

    @Test func `every address of a name is tried, this node's own among them, and the name looked up anew`()
        async throws
    {
        try await TestCluster.run([TestCluster.settings("anna"), TestCluster.settings("boris")]) { systems in
            let addresses = try systems.map { try #require($0.listeningAddress) }
            let nobody = NodeAddress.hostPort(host: "127.0.0.1", port: 1)
            let looks = NIOLockedValueBox(0)
            var settings = TestCluster.settings("clara")
            settings.join = [name]
            settings.lookUp = { _ in
                // The name is unknown at first.
                if looks.withLockedValue({
                    $0 += 1; return $0
                }) < 3 {
                    throw NameLookupError(reason: "not yet")
                }
                return [nobody] + addresses
            }
            try await TestCluster.run([settings]) { others in
                for system in systems {
                    try await system.hears {
                        if case .joined(let member) = $0 { member.name == "clara" } else { false }
                    }
                }
                #expect(looks.withLockedValue { $0 } == 3)
                // Each side takes the other in when it has read the other's part of the handshake.
                #expect(await eventually { others[0].members.count == systems.count })
                for member in others[0].members { #expect(others[0].found(member) == .join) }
            }
        }
    }
}
