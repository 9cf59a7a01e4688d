package import NIOCore
import Transport

/// The result of a task as a worker process hands it to its daemon.
package enum WorkerResult: Sendable {
    /// A result that the daemon reads, or writes its label into.
    case read(TaskResult)
    /// Any other result, as the coordinator gets it: an encoded `TaskResult`. The catalogue of a crowded sector takes long to
    /// decode and to encode again.
    case encoded(ByteBuffer)

    init(_ result: TaskResult) throws {
        self = result.value.isForNode ? .read(result) : .encoded(try WireCoder.encode(result))
    }
}
