import Base
import NIOCore

@testable import Transport

/// The way of a call from a link's bytes to its arguments, and of a failure back: frames, bodies from their pieces,
/// declared targets, requests, arguments.
enum CallPathTarget: FuzzTarget {
    static let name = "calls"

    static func run(_ input: FuzzInput) {
        var input = input
        let bodyLimit = input.choice(of: [64, 16, 1000, FrameLimits.data])
        let window = input.choice(of: [FrameLimits.data, 200, 4096])
        var path = CallPath(bodyLimit: bodyLimit, window: window)
        var decoder = FrameDecoder(limit: FrameLimits.data)
        if input.bool() {
            decoder.append(ByteBuffer(bytes: input.rest()))
            while let frame = try? decoder.next(), path.take(frame) {}
            return
        }
        for _ in 0..<20 where !input.isEmpty {
            let head = input.byte()
            let kind = input.byte()
            var frame = Frame(
                Frame.Kind(rawValue: 1 + kind % 12) ?? .call, flags: head & 1 == 0 ? [] : .more,
                call: UInt64(head >> 1 & 7))
            if head & 128 != 0 {
                frame.flags.insert(.sized)
                frame.total = UInt32(input.byte()) << (head & 64 == 0 ? 0 : 14)
            }
            frame.body = ByteBuffer(bytes: input.field())
            var bytes = ByteBuffer()
            frame.write(into: &bytes)
            decoder.append(bytes)
            guard let read = try? decoder.next() else { fatalError("does not hold: a written frame can be read") }
            require(read == frame, "a frame survives the wire: \(frame)")
            guard path.take(read) else { return }
        }
    }

    static func seeds() throws -> [[UInt8]] {
        var stream = ByteBuffer()
        var short: [UInt8] = []
        var pieces: [UInt8] = []
        for frame in try Samples.callFrames() {
            frame.write(into: &stream)
            let body = frame.body.array
            let head = UInt8(frame.call & 7) << 1
            short += [head, frame.kind.rawValue - 1, UInt8(min(255, body.count))] + body.prefix(255)
            guard !frame.kind.isControl else { continue }
            let half = body.count / 2
            pieces += [head | 1, frame.kind.rawValue - 1, UInt8(half)] + body.prefix(half)
            pieces += [head, frame.kind.rawValue - 1, UInt8(body.count - half)] + body.dropFirst(half)
        }
        return [[3, 0, 1] + stream.array, [3, 0, 0] + short, [2, 2, 0] + pieces, [0, 1, 0] + pieces]
    }
}

/// One side of a link that is up, beside a plain model of it.
private struct CallPath {
    private struct Key: Hashable {
        var kind: Frame.Kind
        var call: UInt64
    }

    private let bodyLimit: Int
    private let windowSize: Int
    private var assembler: BodyAssembler
    private var window: ReceiveWindow
    private var targets = DeclaredTargets()

    private struct Body {
        /// What has come; `nil` where that is too long, or will be.
        var bytes: [UInt8]?
        /// The number of bytes held for it.
        var reserved = 0
    }

    private var unfinished: [Key: Body] = [:]
    private var declared: [[UInt8]] = []
    private var received = 0
    private var granted = 0

    init(bodyLimit: Int, window: Int) {
        self.bodyLimit = bodyLimit
        windowSize = window
        assembler = BodyAssembler(bodyLimit: bodyLimit)
        self.window = ReceiveWindow(size: window)
    }

    /// Takes a frame. The result is `false` where the link is closed.
    mutating func take(_ frame: Frame) -> Bool {
        switch frame.kind {
        case .declare: return declare(frame.body)
        case .cancel:
            assembler.forget(call: frame.call)
            unfinished[Key(kind: .call, call: frame.call)] = nil
        case .call, .reply, .failure:
            let fits = received + frame.length <= granted + windowSize
            require(((try? window.received(frame.length)) != nil) == fits, "a frame within the window, and no other")
            guard fits else { return false }
            received += frame.length
            guard assemble(frame) else { return false }
            if let grant = window.consumed(frame.length) { granted += Int(grant) }
            require(granted <= received && received - granted < windowSize, "what was taken is granted again")
        default: break
        }
        let held = unfinished.values.reduce(0) { $0 + $1.reserved }
        require(assembler.heldBytes == held, "\(assembler.heldBytes) bytes held, \(held) expected")
        return true
    }

    private mutating func assemble(_ frame: Frame) -> Bool {
        let key = Key(kind: frame.kind, call: frame.call)
        let more = frame.flags.contains(.more)
        let isFirst = unfinished[key] == nil
        var entry = unfinished.removeValue(forKey: key) ?? Body(bytes: [])
        let isRefused = entry.bytes == nil
        entry.bytes?.append(contentsOf: frame.body.readableBytesView)
        let body = entry.bytes
        if let body, !isRefused {
            let said = more && isFirst ? Int(frame.total) : 0
            entry.reserved = max(entry.reserved, body.count, said)
            if entry.reserved > bodyLimit { entry = Body(bytes: nil) }
        }
        let isTooLong = !isRefused && entry.bytes == nil
        if more { unfinished[key] = entry }

        guard let result = try? assembler.add(frame) else { return false }
        switch result {
        case .tooLong(let kind, let call):
            require(isTooLong && kind == frame.kind && call == frame.call, "too long, said once")
        case .incomplete:
            require(!isTooLong && (more || isRefused), "more to come, or dropped")
        case .whole(let whole):
            require(!more && !isTooLong && whole.body.array == body, "the pieces in their order")
            require(whole.kind == frame.kind && whole.call == frame.call, "under the same kind and number")
            take(whole: whole)
        }
        return true
    }

    private mutating func declare(_ body: ByteBuffer) -> Bool {
        guard (try? targets.declare(body)) != nil else {
            require(targets.target(UInt32(declared.count + 1)) == nil, "a refused declaration is none")
            return false
        }
        declared.append(Array(body.array.dropFirst(4)))
        require(body.getInteger(at: 0, as: UInt32.self) == UInt32(declared.count), "indices count up")
        require(declared.count <= FrameLimits.targets, "no more targets than the limit")
        return true
    }

    private func take(whole frame: Frame) {
        switch frame.kind {
        case .call: take(call: frame.body)
        case .failure: take(failure: frame.body)
        default: _ = try? WireCoder.decode([String: Int].self, from: frame.body)
        }
    }

    // MARK: - Calls

    private func take(call body: ByteBuffer) {
        guard let request = CallRequest(body) else { return }
        require(request.count <= CallRequest.argumentLimit, "no more arguments than the limit")
        require(CallEncoder.milliseconds(request.remaining) == body.getInteger(at: 0), "the time survives")
        var head = ByteBuffer()
        switch request.target {
        case .index(let index):
            let target = targets.target(index)
            require((target != nil) == (Int(index) <= declared.count), "a target for each declared index")
            if let target {
                var names = ByteBuffer()
                target.write(into: &names)
                require(names.array == declared[Int(index) - 1], "the names that were declared")
            }
            head.writeMultipleIntegers(CallEncoder.milliseconds(request.remaining), request.trace, index)
        case .named(let target):
            head.writeMultipleIntegers(CallEncoder.milliseconds(request.remaining), request.trace, UInt32(0))
            target.write(into: &head)
        }
        head.writeInteger(UInt8(request.count))
        require(head.array + request.arguments.array == body.array, "a call is its parts")
        decodeArguments(of: request)
    }

    private func decodeArguments(of request: CallRequest) {
        var decoder = CallDecoder(request)
        var position = 0
        var hasFailed = false
        func next<Argument: Codable & Sendable>(_ type: Argument.Type) {
            do {
                let _: Argument = try decoder.decodeNextArgument()
                require(position < request.count, "no more arguments than are said")
            } catch let error as RemoteError {
                require(error.kind == .badArguments && isOneLine(error.message), "a bad argument: \(error)")
                hasFailed = true
            } catch {
                fatalError("does not hold: a remote error for a bad argument: \(error)")
            }
            position += 1
        }
        while position < request.count, !hasFailed {
            // The trace is the caller's to choose.
            switch (request.trace >> UInt64(4 * position % 64)) & 7 {
            case 0: next(String.self)
            case 1: next(Int.self)
            case 2: next([UInt8].self)
            case 3: next(Hello.self)
            case 4: next(ByteBuffer.self)
            case 5: next(Duration?.self)
            case 6: next([NodeAddress].self)
            default: next([String: Double].self)
            }
        }
        guard !hasFailed else { return }
        next(String.self)
        require(hasFailed, "an argument too many is refused")
    }

    // MARK: - Failures

    private static let declaredErrors = [
        DeclaredError("refusal", Refusal.self), DeclaredError("remote", RemoteError.self),
    ]

    private func take(failure body: ByteBuffer) {
        let failure = CallFailure(reading: body)
        switch failure.error(among: CallPath.declaredErrors) {
        case let error as RemoteError where failure.error != "remote":
            require(isOneLine(error.message), "a message fit for a terminal")
            require(error.message.unicodeScalars.count <= PrintableText.limit, "a message of bounded length")
        case is RemoteError, is Refusal:
            require(failure.error == "remote" || failure.error == "refusal", "the error that was named")
        case let error: fatalError("does not hold: a declared error: \(error)")
        }
        let again = CallFailure(reading: failure.encoded(limit: FrameLimits.body))
        require(
            again.kind == failure.kind && again.message == failure.message && again.error == failure.error
                && again.value == failure.value, "a failure survives the wire: \(failure)")
        let short = failure.encoded(limit: 16)
        require(CallFailure(reading: short).message == failure.message, "cut to its words: \(failure)")
    }
}
