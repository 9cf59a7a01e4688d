import CDeflate
import NIOCore

extension ByteBuffer {
    /// Two checksums of different kinds, which find every damage that a disk or a cable does, and every other content that comes about by
    /// chance. Nobody who has the key needs to make up a collision.
    var contentDigest: UInt64 {
        withUnsafeReadableBytes { bytes in
            guard let start = bytes.baseAddress else { return 1 }
            let (crc, adler) = (libdeflate_crc32(0, start, bytes.count), libdeflate_adler32(1, start, bytes.count))
            return UInt64(crc) << 32 | UInt64(adler)
        }
    }
}
