import Foundation
import Glibc

/// A socket like systemd's, to which a service reports its state.
final class NotifySocket: Sendable {
    let path: String
    private let descriptor: Int32

    init(in folder: ScratchFolder) throws {
        path = folder.file("notify")
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { throw CocoaError(.fileWriteUnknown) }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Lines up to the first that begins with `word`; all that came within twenty seconds where none does.
    func lines(upTo word: String) async -> [String] {
        await withCheckedContinuation { continuation in
            // `recv` blocks, so it has a thread to itself.
            DispatchQueue.global().async { [descriptor] in
                var lines: [String] = []
                var bytes = [UInt8](repeating: 0, count: 4096)
                while !lines.contains(where: { $0.hasPrefix(word) }) {
                    let count = recv(descriptor, &bytes, bytes.count, 0)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { break }
                    lines += String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").map(String.init)
                }
                continuation.resume(returning: lines)
            }
        }
    }
}
