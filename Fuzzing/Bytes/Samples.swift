import Distributed
import NIOCore

@testable import Transport

/// Real values and frames, to make seeds of.
enum Samples {
    static var hello: Hello {
        Hello(
            cluster: "skynet", node: NodeID(rawValue: 0xABCD), name: "anna", role: .node,
            advertised: .hostPort(host: "anna.example", port: 7420))
    }

    static let target = CallTarget(actor: "scan", method: "run")

    /// The body of a call frame, made as a caller makes it.
    static func call(_ index: UInt32, _ arguments: [any Codable & Sendable]) throws -> ByteBuffer {
        func record(_ argument: some Codable & Sendable, in encoder: inout CallEncoder) throws {
            try encoder.recordArgument(RemoteCallArgument(label: nil, name: "_", value: argument))
        }
        var encoder = CallEncoder()
        for argument in arguments { try record(argument, in: &encoder) }
        return try encoder.takeFrame(to: target, index: index, remaining: .seconds(5), trace: 9).body
    }

    /// A link's traffic in one direction: targets, calls by index and by name, answers.
    static func callFrames() throws -> [Frame] {
        var index = TargetIndex()
        var frames: [Frame] = []
        if let declaration = index.index(of: target).declaration { frames.append(declaration) }
        frames.append(Frame(.call, call: 1, body: try call(1, [])))
        frames.append(Frame(.call, call: 2, body: try call(0, ["one", 2, hello])))
        frames.append(Frame(.reply, call: 1, body: try WireCoder.encode(["a": 1])))
        let failure = CallFailure(
            kind: .failed, message: "why", error: "refusal", value: try WireCoder.encode(Refusal(.leaving, "bye")))
        frames.append(Frame(.failure, call: 2, body: failure.encoded(limit: 4096)))
        frames.append(Frame(.cancel, call: 2))
        frames.append(Frame(.grant, body: ByteBuffer(integer: UInt32(1 << 20))))
        return frames
    }
}
