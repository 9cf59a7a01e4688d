public import Distributed
import NIOCore

/// Hands the arguments of an inbound call to the runtime, one by one, each decoded as the type the method declares.
public struct CallDecoder: DistributedTargetInvocationDecoder {
    public typealias SerializationRequirement = any Codable & Sendable

    private var bytes: ByteBuffer?
    private var left: Int

    init(_ request: CallRequest) {
        bytes = request.arguments
        left = request.count
    }

    /// This is always empty: generic calls are refused because no substitution is ever offered.
    public mutating func decodeGenericSubstitutions() throws -> [any Any.Type] { [] }

    public mutating func decodeNextArgument<Argument: Codable & Sendable>() throws -> Argument { try next() }

    /// Does the same for callers who know that `Argument` can be decoded: the compiler makes each requirement of the runtime's look
    /// that up.
    mutating func next<Argument: Codable & Sendable>() throws -> Argument {
        guard left > 0 else { throw RemoteError(.badArguments, "an argument is missing") }
        guard let length = bytes?.readInteger(as: UInt32.self), let argument = bytes?.readSlice(length: Int(length))
        else { throw RemoteError(.badArguments, "an argument is cut") }
        left -= 1
        // The call may run for a long time and must not keep alive the bytes that were read from the socket.
        if left == 0 { bytes = nil }
        do {
            return try WireCoder.decodeChecked(Argument.self, from: argument)
        } catch let error as InvalidMessage {
            throw RemoteError(.badArguments, "an argument is refused: \(error)")
        } catch {
            throw RemoteError(.badArguments, "an argument could not be read: \(error)")
        }
    }

    public mutating func decodeErrorType() throws -> (any Any.Type)? { nil }

    public mutating func decodeReturnType() throws -> (any Any.Type)? { nil }
}
