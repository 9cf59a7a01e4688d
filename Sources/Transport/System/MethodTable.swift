import Base
public import Distributed

/// The methods of a distributed actor that peers may call, and the errors of these methods that arrive as themselves.
///
/// A peer's bytes choose among these methods and nothing else. The runtime itself does not check on Swift 6.3 that a target belongs
/// to the actor that it is run on: a foreign target reads foreign memory. A method's name on the wire is its name in Swift without its
/// parameters, so that a renamed parameter does not change the wire, and a renamed method does.
public struct MethodTable: Sendable {
    private let methods: [String: Method]
    private let errors: [DeclaredError]

    /// - Parameters:
    ///   - methods: each has a name of its own; where two have the same one, the first counts.
    ///   - errors: error types that cross the wire as themselves; the first that fits is taken.
    public init(_ methods: [Method], errors: [DeclaredError] = []) {
        self.errors = errors
        self.methods = Dictionary(methods.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    func method(named name: String) -> Method? { methods[name] }

    /// The name on the wire of a method that this process calls, which the runtime reads from the compiler's mangled name:
    /// "SkyCore.Coordinator.submit(_:)" is "submit".
    ///
    /// - Returns: `nil` where it is none of these methods.
    func name(of target: RemoteCallTarget) -> String? {
        let words = target.description.prefix { $0 != "(" }
        let name = words.lastIndex(of: ".").map { String(words[words.index(after: $0)...]) } ?? String(words)
        return methods[name] == nil ? nil : name
    }

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
