public import Distributed
import NIOCore

/// Collects the arguments of a remote call. Generic distributed methods are not supported: a peer must never be
/// able to name a type.
public struct CallEncoder: DistributedTargetInvocationEncoder {
    public typealias SerializationRequirement = any Codable & Sendable

    private(set) var arguments: [ByteBuffer] = []

    init() {}

    public mutating func recordGenericSubstitution<T>(_ type: T.Type) throws {
        throw RemoteError(.noSuchMethod, "generic distributed methods are not supported")
    }

    public mutating func recordArgument<Value: Codable & Sendable>(_ argument: RemoteCallArgument<Value>) throws {
        arguments.append(try WireCoder.encode(argument.value))
    }

    public mutating func recordReturnType<R: Codable & Sendable>(_ type: R.Type) throws {}

    public mutating func recordErrorType<E: Error>(_ type: E.Type) throws {}

    public mutating func doneRecording() throws {}
}
