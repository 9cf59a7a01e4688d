#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

/// A value behind a lock that is held for well under a microsecond, while several threads run at once. A thread that finds the lock
/// taken tries again some times before the kernel puts it to sleep. Sleeping and being woken, as with `NIOLockedValueBox`, takes
/// longer than the whole section, and many calls in flight meet at a link's lock all the time.
///
/// It is a `pthread` mutex, so that the Thread Sanitizer sees what it orders.
final class BriefLock<Value: Sendable>: @unchecked Sendable {
    // Both are behind pointers: neither may move, and the value needs no second check that nobody else has it.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

    init(_ value: Value) {
        self.value.initialize(to: value)
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        #if canImport(Glibc)
            // This is glibc's mutex that spins; other libraries have no such kind.
            pthread_mutexattr_settype(&attributes, CInt(PTHREAD_MUTEX_ADAPTIVE_NP))
        #endif
        let error = pthread_mutex_init(mutex, &attributes)
        precondition(error == 0, "a mutex that cannot be made: \(error)")
        pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Runs `body` alone. It must not call back into the owner of the lock, nor wait for anything.
    @inline(__always)
    func withLockedValue<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}
