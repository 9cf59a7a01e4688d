import CCrypto

/// The library behind this module: libcrypto of OpenSSL 3.
///
/// It may be used from any thread. Objects that it has made belong to one owner each, and those that are shared between
/// threads are only read.
enum OpenSSL {
    /// Begins the use of the library. Everything here that is the first to call it goes through this function.
    ///
    /// The machine's `openssl.cnf` is not read, so that a node does the same everywhere. The library does not clean up at the
    /// end of the process either, because threads that still use it run until then.
    static func begin() { check(isReady, "OpenSSL cannot be used") }

    private static let isReady =
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT), nil) == 1

    /// The algorithm, which is looked up once. No one changes it, so that all threads may use it.
    static var sha256: OpaquePointer {
        guard let found = fetched else { fatalError("OpenSSL has no SHA-256") }
        return found
    }

    nonisolated(unsafe) private static let fetched: OpaquePointer? = {
        begin()
        return EVP_MD_fetch(nil, "SHA256", nil)
    }()

    /// For calls that fail only where there is no memory left, as Swift's own arrays do then, or where the library is not
    /// whole. No input makes them fail.
    static func check(_ succeeded: Bool, _ what: @autoclosure () -> String) {
        guard succeeded else { fatalError("\(what()): \(CryptographyError.lastReason())") }
    }
}
