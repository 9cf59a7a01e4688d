public import Distributed
import NIOCore

/// Hands the arguments of an inbound call to the runtime, one by one, each decoded as the type the method declares.
public struct CallDecoder: DistributedTargetInvocationDecoder {
    public typealias SerializationRequirement = any Codable & Sendable

    private var arguments: ArraySlice<ByteBuffer>

    init(arguments: [ByteBuffer]) {
        self.arguments = arguments[...]
    }

    /// Always empty: generic calls are refused by never offering a substitution.
    public mutating func decodeGenericSubstitutions() throws -> [any Any.Type] { [] }

    public mutating func decodeNextArgument<Argument: Codable & Sendable>() throws -> Argument {
        guard let bytes = arguments.popFirst() else { throw RemoteError(.badArguments, "an argument is missing") }
        do {
            return try WireCoder.decode(Argument.self, from: bytes)
        } catch {
            throw RemoteError(.badArguments, "an argument could not be read: \(error)")
        }
    }

    public mutating func decodeErrorType() throws -> (any Any.Type)? { nil }

    public mutating func decodeReturnType() throws -> (any Any.Type)? { nil }
}
