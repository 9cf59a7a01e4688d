import Foundation
import Transport

/// The node that a command asks, and where it was named.
struct NodePlace: Equatable {
    /// The environment variable that stands for `--node`.
    static let variable = "SKYNODE_NODE"
    /// The environment variable that stands for `--require-cluster`.
    static let requirement = "SKYNODE_REQUIRE_CLUSTER"

    var text: String
    /// The name of the option or the variable.
    var name: String

    /// Finds the named node; `nil` where none is named. Then the node of this machine is asked, or one that is found.
    static func find(
        option: String?, environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> NodePlace? {
        if let option { return NodePlace(text: option, name: "--node") }
        guard let text = environment[variable], !text.isEmpty else { return nil }
        return NodePlace(text: text, name: variable)
    }

    func address() throws -> NodeAddress {
        try AddressArgument.parse(text, option: name, allowsPortZero: false)
    }
}
