import Distributed
import NIOCore

@testable import Transport

/// Bodies of call frames, made as a caller makes them.
enum CallBody {
    static func make(
        _ target: CallTarget, index: UInt32 = 0, remaining: Duration = .seconds(5), trace: UInt64 = 0,
        arguments: [String] = []
    ) throws -> ByteBuffer {
        var encoder = CallEncoder()
        for argument in arguments {
            try encoder.recordArgument(RemoteCallArgument(label: nil, name: "_", value: argument))
        }
        var body = try encoder.takeBody(remaining: remaining, trace: trace)
        CallEncoder.set(target, index: index, in: &body)
        return body
    }
}
