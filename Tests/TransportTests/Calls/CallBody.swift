import Distributed
import NIOCore

@testable import Transport

/// Bodies of call frames, made as a caller makes them.
enum CallBody {
    static func make(
        _ target: CallTarget, index: UInt32 = 0, remaining: Duration = .seconds(5), trace: UInt64 = 0,
        arguments: [any Codable & Sendable] = []
    ) throws -> ByteBuffer {
        func record(_ argument: some Codable & Sendable, in encoder: inout CallEncoder) throws {
            try encoder.recordArgument(RemoteCallArgument(label: nil, name: "_", value: argument))
        }
        var encoder = CallEncoder()
        for argument in arguments { try record(argument, in: &encoder) }
        return try encoder.takeFrame(to: target, index: index, remaining: remaining, trace: trace).body
    }
}
