/// The tape of one encode, shared by all its encoders and containers.
///
/// They reach the tape through a pointer, which spares the runtime's check that nobody else is changing it, at each
/// of many steps. In its place there is a rule: a step on the tape runs none of the value's code and ends before
/// the value encodes itself, because that value comes back to the tape.
final class EncodingSession {
    let tape: UnsafeMutablePointer<EncodingTape>

    init() {
        tape = .allocate(capacity: 1)
        tape.initialize(to: EncodingTape())
    }

    deinit {
        tape.deinitialize(count: 1)
        tape.deallocate()
    }
}

extension EncodingSession {
    /// Writes any value where the current value of `node` goes. The session writes it itself if it can; otherwise the value does.
    func write<T: Encodable>(_ value: T, to node: UInt32, label: PathLabel) throws {
        if let native = NativeValue(value) { return try tape.pointee.write(native, to: node) }
        let child = try tape.pointee.addCheckedChild(of: node, label: label)
        try value.encode(to: WireEncoder(session: self, node: child))
    }
}

extension EncodingSession: PooledSession {
    static let pool = SessionPool<EncodingSession>()

    func clear() {
        tape.pointee.clear()
    }
}
