import Testing

@testable import SkyNode

/// The key and the node that commands use by default.
struct PlaceTests {
    private func key(
        _ environment: [String: String] = [:], option: String? = nil, certificates: Bool = false,
        insecure: Bool = false, readable: [String] = []
    ) -> KeyChoice? {
        KeyChoice.find(
            option: option, hasCertificates: certificates, isInsecure: insecure, environment: environment,
            isReadable: readable.contains)
    }

    private let own = "/home/ada/.config/skynode/cluster.key"
    private let machine = "/etc/skynode/cluster.key"

    @Test func `the key is taken from the option, else the variable, else its usual place`() {
        let environment = ["HOME": "/home/ada", "SKYNODE_CLUSTER_KEY": "b"]
        #expect(key(environment, option: "a", readable: [own]) == KeyChoice(path: "a", source: .option))
        #expect(key(environment, readable: [own]) == KeyChoice(path: "b", source: .variable))
        #expect(key(["HOME": "/home/ada"], readable: [machine, own]) == KeyChoice(path: own, source: .place))
        #expect(key(["HOME": "/home/ada"], readable: [machine]) == KeyChoice(path: machine, source: .place))
        #expect(key(["HOME": "/home/ada"]) == nil, "what cannot be read is not there")
    }

    @Test func `the usual key is not taken when other protection is chosen`() {
        #expect(key(["SKYNODE_CLUSTER_KEY": ""], readable: [machine]) == nil, "an empty variable says none")
        #expect(key(insecure: true, readable: [machine]) == nil)
        #expect(key(["SKYNODE_CLUSTER_KEY": "b"], certificates: true, readable: [machine]) == nil)
        #expect(key(["SKYNODE_CLUSTER_KEY": "b"], insecure: true)?.source == .variable, "that is a contradiction")
    }

    @Test func `a user's configuration folder may be elsewhere`() {
        #expect(KeyChoice.places(["HOME": "/h", "XDG_CONFIG_HOME": "/x"]) == ["/x/skynode/cluster.key", machine])
        #expect(KeyChoice.places(["XDG_CONFIG_HOME": "relative"]) == [machine])
        #expect(KeyChoice.places([:], home: "/account") == ["/account/.config/skynode/cluster.key", machine])
    }

    @Test func `an error with a default key names that key`() {
        #expect(KeyChoice(path: machine, source: .place).remark.contains("the key \(machine) was taken"))
        #expect(KeyChoice(path: "a", source: .option).remark.isEmpty)
    }

    @Test func `a node is named by the option, else by the variable`() throws {
        let environment = ["SKYNODE_NODE": "dome-2:7420"]
        #expect(NodePlace.find(option: "dome-1:7420", environment: environment)?.name == "--node")
        let place = try #require(NodePlace.find(option: nil, environment: environment))
        #expect(try place.address() == .hostPort(host: "dome-2", port: 7420))
        #expect(NodePlace.find(option: nil, environment: ["SKYNODE_NODE": ""]) == nil)
        let wrong = try #require(throws: CommandFailure.self) {
            _ = try NodePlace(text: "dome-2", name: "SKYNODE_NODE").address()
        }
        #expect(wrong.message == "SKYNODE_NODE dome-2: not an address of the form HOST:PORT; did you mean dome-2:7420?")
    }

    @Test func `SKYNODE_NODE is not reported as an unknown variable`() {
        #expect(ConfiguredArguments.problems(["SKYNODE_NODE": "dome-2:7420"]).isEmpty)
        #expect(!ConfiguredArguments.problems(["SKYNODE_NODES": "dome-2:7420"]).isEmpty)
    }
}
