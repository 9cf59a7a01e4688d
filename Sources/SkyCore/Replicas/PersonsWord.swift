package import Transport

/// The commands with which a person lets jobs go on that wait. Everything that prints one reads it here: a command acts on the node that
/// it asks, which may not be this one where it is typed.
package enum PersonsWord {
    /// Lets all jobs of a node go on without copies.
    package static func unprotect(at node: NodeAddress?) -> String { "skynode jobs unprotect --all" + place(node) }

    /// Lets a node take over what it has of a lost one.
    package static func adopt(_ lost: String, at node: NodeAddress?) -> String {
        "skynode jobs adopt \(lost)" + place(node)
    }

    /// Nobody can dial all addresses of a machine. Where a node has no other one, it is alone there.
    private static func place(_ node: NodeAddress?) -> String {
        node.flatMap { $0.isWildcard ? nil : " --node \($0)" } ?? ""
    }
}
