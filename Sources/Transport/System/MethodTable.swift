import Base
public import Distributed

/// The methods of a distributed actor that peers may call, with their names on the wire and the compiler's names for them in this
/// program, and the errors of these methods that arrive as themselves.
///
/// A peer's bytes choose among these methods and nothing else. The runtime itself does not check on Swift 6.3 that a target belongs
/// to the actor that it is run on: a foreign target reads foreign memory. The table also keeps the wire stable: a renamed parameter
/// changes the compiler's name, not the wire's.
public struct MethodTable: Sendable {
    private let methods: [String: Method]
    private let names: [String: String]
    private let errors: [DeclaredError]

    /// - Parameters:
    ///   - targets: wire name to the compiler's mangled name, as `TransportError.undeclaredMethod` reports it when a
    ///     method that is missing here is called.
    ///   - errors: error types that cross the wire as themselves; the first that fits is taken.
    public init(_ targets: [String: String], errors: [DeclaredError] = []) {
        self.init(targets.map { Method($0, $1) }, errors: errors)
    }

    /// - Parameters:
    ///   - methods: each has a wire name and a target of its own; where two have the same one, the first counts.
    ///   - errors: error types that cross the wire as themselves; the first that fits is taken.
    public init(_ methods: [Method], errors: [DeclaredError] = []) {
        self.errors = errors
        self.methods = Dictionary(methods.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        names = Dictionary(methods.map { ($0.target, $0.name) }, uniquingKeysWith: { first, _ in first })
    }

    func method(named name: String) -> Method? { methods[name] }

    func name(of target: String) -> String? { names[target] }

    /// What goes over the wire for a thrown error.
    func failure(for error: any Error) -> CallFailure {
        for declared in errors {
            if let value = try? declared.encode(error) {
                return CallFailure(
                    kind: .failed, message: PrintableText.of(String(describing: error)), error: declared.name,
                    value: value)
            }
        }
        return CallFailure(RemoteError(describing: error))
    }

    /// The error that the caller throws for a failure.
    func error(for failure: CallFailure) -> any Error {
        failure.error(among: errors)
    }
}

/// A distributed actor that can be called through a `ClusterSystem`.
public protocol ClusterActor: DistributedActor where ActorSystem == ClusterSystem {
    /// What peers may call.
    static var methods: MethodTable { get }
    /// Whether peers' calls run on the event loop of their links, where a node has only one. For actors that many small calls come to,
    /// and whose methods are brief and never wait for a disk: no link of the loop reads or writes meanwhile.
    static var worksOnLoop: Bool { get }
}

extension ClusterActor {
    public static var worksOnLoop: Bool { false }
}
