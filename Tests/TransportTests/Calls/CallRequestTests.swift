import NIOCore
import Testing

@testable import Transport

@Suite struct CallRequestTests {
    private let request = CallRequest(
        remaining: .milliseconds(1500), trace: 9, actor: "scan", method: "run",
        arguments: [ByteBuffer(string: "one"), ByteBuffer()])

    @Test func `a call survives the wire`() {
        #expect(CallRequest(request.encoded()) == request)
    }

    @Test func `a cut or lengthened call is no call`() {
        let whole = request.encoded()
        for length in 0..<whole.readableBytes {
            #expect(CallRequest(ByteBuffer(bytes: whole.readableBytesView.prefix(length))) == nil)
        }
        #expect(CallRequest(ByteBuffer(bytes: Array(whole.readableBytesView) + [0])) == nil)
    }

    @Test func `very long times are clamped, not trapped on`() {
        var request = request
        request.remaining = .seconds(Int64.max / 2)
        #expect(CallRequest(request.encoded()) != nil)
        request.remaining = .seconds(-5)
        #expect(CallRequest(request.encoded())?.remaining == .zero)
    }
}
