import Distributed
import NIOCore
import Testing

@testable import Transport

@Suite struct CallRequestTests {
    private let target = CallTarget(actor: "scan", method: "run")

    @Test(arguments: [0, 7] as [UInt32])
    func `a call survives the wire, by name and by index`(index: UInt32) throws {
        let body = try CallBody.make(
            target, index: index, remaining: .milliseconds(1500), trace: 9, arguments: ["one", ""])
        let request = try #require(CallRequest(body))
        #expect(request.remaining == .milliseconds(1500))
        #expect(request.trace == 9)
        #expect(request.target == (index == 0 ? .named(target) : .index(index)))
        var decoder = CallDecoder(request)
        #expect(try decoder.decodeNextArgument() as String == "one")
        #expect(try decoder.decodeNextArgument() as String == "")
        #expect(throws: RemoteError.self) { try decoder.decodeNextArgument() as String }
    }

    @Test func `a truncated call is refused, or its arguments are`() throws {
        let whole = try CallBody.make(target, arguments: ["one", "two"])
        for length in 0..<whole.readableBytes {
            guard let request = CallRequest(ByteBuffer(bytes: whole.readableBytesView.prefix(length))) else { continue }
            var decoder = CallDecoder(request)
            #expect(throws: RemoteError.self) {
                _ = try decoder.decodeNextArgument() as String
                _ = try decoder.decodeNextArgument() as String
            }
        }
        let empty = try CallBody.make(target)
        #expect(CallRequest(ByteBuffer(bytes: Array(empty.readableBytesView) + [0])) == nil)
    }

    @Test func `very long durations are clamped, and do not trap`() throws {
        let long = try CallBody.make(target, remaining: .seconds(Int64.max / 2))
        #expect(CallRequest(long)?.remaining == .milliseconds(UInt32.max))
        #expect(CallRequest(try CallBody.make(target, remaining: .seconds(-5)))?.remaining == .zero)
        // Found by the fuzzer: the last of the times that fit were clamped too.
        let fits = Duration.milliseconds(UInt32.max - 1)
        #expect(CallRequest(try CallBody.make(target, remaining: fits))?.remaining == fits)
        let short = try CallBody.make(target, remaining: .nanoseconds(1))
        #expect(CallRequest(short)?.remaining == .milliseconds(1), "time that is left is not rounded away")
    }

    @Test func `more arguments than a call may have are refused where they are made`() {
        #expect(throws: RemoteError.self) { try CallBody.make(target, arguments: Array(repeating: "x", count: 17)) }
    }
}
