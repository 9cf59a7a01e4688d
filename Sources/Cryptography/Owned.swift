/// An object of OpenSSL's that is freed with its owner.
struct Owned: ~Copyable {
    let pointer: OpaquePointer
    private let free: (OpaquePointer) -> Void

    /// - Parameters:
    ///   - made: what OpenSSL returned: an object, or `nil` where it could not be made.
    ///   - free: OpenSSL's function for objects of that type.
    ///   - what: the sentence for an error: "a certificate cannot be read".
    init(
        _ made: OpaquePointer?, _ free: @escaping (OpaquePointer) -> Void, _ what: @autoclosure () -> String
    ) throws(CryptographyError) {
        guard let made else { throw CryptographyError(what()) }
        (pointer, self.free) = (made, free)
    }

    /// Reads an object.
    ///
    /// - Parameters:
    ///   - der: the bytes of one object. Nothing may follow it.
    ///   - read: OpenSSL's function that reads objects of that type, and moves the pointer behind what it has read.
    static func reading(
        _ der: UnsafeRawBufferPointer,
        by read: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?,
        _ free: @escaping (OpaquePointer) -> Void, _ what: @autoclosure () -> String
    ) throws(CryptographyError) -> Owned {
        var next = UnsafePointer(der.bindMemory(to: UInt8.self).baseAddress)
        let end = next.map { $0 + der.count }
        let made = try Owned(read(&next, der.count), free, what())
        guard next == end else { throw CryptographyError(what(), reason: "something follows it") }
        return made
    }

    deinit { free(pointer) }
}
