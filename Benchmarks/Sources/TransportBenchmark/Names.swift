/// The contestants as the table names them, and as the targets find them there.
enum Names {
    static let raw = "raw NIO echo"
    static let grpc = "grpc-swift 2"
    static let grpcWithoutDelay = "grpc-swift 2, no flush delay"
    static let array = "Transport, [UInt8]"
    static let buffer = "Transport, ByteBuffer"
    static let secureArray = "Transport over TLS, [UInt8]"
    static let secureBuffer = "Transport over TLS, ByteBuffer"
}
