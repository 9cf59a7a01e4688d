/// How much more the process may hold after a phase than before it.
struct Bounds: Sendable {
    /// Bytes of resident memory. The bound is not 0, because the allocator's pages fill differently each time.
    var memory: Int
    /// Blocks of the allocator. The bound is not 0, because caches and queues of the runtime and of the event loops grow to their
    /// size at some point. It is far below one for each call, reconnect or cancellation of a full run.
    var blocks: Int

    /// What is out of bounds, in words; empty where nothing is. Descriptors have no tolerance.
    func violations(from before: Vitals, to after: Vitals) -> [String] {
        var violations: [String] = []
        if after.memory - before.memory > memory {
            violations.append("resident memory grew by \(after.memory - before.memory) bytes, more than \(memory)")
        }
        if after.descriptors > before.descriptors {
            violations.append("\(after.descriptors - before.descriptors) file descriptors more")
        }
        if after.blocks - before.blocks > blocks {
            violations.append("\(after.blocks - before.blocks) blocks more, more than \(blocks)")
        }
        return violations
    }
}
