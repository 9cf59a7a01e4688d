import Glibc
import NIOConcurrencyHelpers
import Transport

/// A thread for calls that may never return, such as the opening of a folder whose file server is gone.
package enum DetachedThread {
    /// Runs `body` in a thread of its own, which ends with it. Returns whether there is a thread to be had.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        final class Box: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        let box = Unmanaged.passRetained(Box(body))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, stack)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        let status = pthread_create(
            &thread, &attributes,
            { argument in
                if let argument { Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, box.toOpaque())
        if status != 0 { box.release() }
        return status == 0
    }

    /// Runs `body` in a thread of its own; `nil` if it does not end in time, or there is no thread.
    static func result<Result: Sendable>(
        within limit: Duration, _ body: @escaping @Sendable () -> Result
    ) async -> Result? {
        let (box, isOver) = (NIOLockedValueBox<Result?>(nil), Latch())
        let hasThread = start {
            let result = body()
            box.withLockedValue { $0 = result }
            isOver.open()
        }
        if hasThread { await isOver.wait(atMost: limit) }
        return box.withLockedValue { $0 }
    }

    /// Bytes of the stack: folders are walked through in a recursion as deep as a path.
    private static let stack = 1 << 20
}
