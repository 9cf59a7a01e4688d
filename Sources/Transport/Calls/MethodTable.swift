public import Distributed

/// The methods of a distributed actor that peers may call: their names on the wire, and the compiler's names for
/// them in this program.
///
/// A peer's bytes choose among these and nothing else. The runtime itself does not check on Swift 6.3 that a target
/// belongs to the actor it is run on; a foreign one reads foreign memory. It is also what keeps the wire stable: a
/// renamed parameter changes the compiler's name, not the wire's.
public struct MethodTable: Sendable {
    private let targets: [String: String]
    private let names: [String: String]

    /// - Parameter targets: wire name to the compiler's mangled name, as `TransportError.undeclaredMethod` reports
    ///   it when a method that is missing here is called.
    public init(_ targets: [String: String]) {
        self.targets = targets
        names = Dictionary(targets.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    func target(named name: String) -> String? { targets[name] }

    func name(of target: String) -> String? { names[target] }
}

/// A distributed actor that can be called through a `ClusterSystem`.
public protocol ClusterActor: DistributedActor where ActorSystem == ClusterSystem {
    /// What peers may call.
    static var methods: MethodTable { get }
}
