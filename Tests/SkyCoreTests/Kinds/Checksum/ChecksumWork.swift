import Base
import Crypto
import Glibc
import NIOPosix
import Transport

@testable import SkyCore

/// What a task of the kind does.
enum ChecksumWork: KindWork, DaemonWork {
    case checksum(path: String)

    static var cases: [String] { ["checksum"] }

    func validate() throws(InvalidMessage) {
        guard case .checksum(let path) = self else { return }
        try InvalidMessage.unless(path.hasPrefix("/") && path.utf8.count <= 4096, "a file's path is absolute")
    }

    // Reading blocks, but needs no foreign code: a thread of the daemon will do. What may crash says `.worker`.
    var place: WorkPlace { .daemon(self) }

    func perform(timeLimit: Duration, slowness: Int) async throws -> TaskResult {
        guard case .checksum(let path) = self else { throw SkyError(.failed, "no work") }
        return try await NIOThreadPool.singleton.runIfActive {
            TaskResult(ChecksumResult.checksummed(try ChecksumWork.digest(of: path)))
        }
    }

    private static func digest(of path: String) throws -> [UInt8] {
        guard let file = fopen(path, "rbe") else {
            // Another node may have it.
            throw SkyError(.unavailable, "\(path): \(String(cString: strerror(errno)))")
        }
        defer { fclose(file) }
        var hash = SHA256()
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&block, 1, block.count, file), count > 0 { hash.update(data: block[..<count]) }
        guard ferror(file) == 0 else { throw SkyError(.failed, "\(path): it cannot be read to its end") }
        return Array(hash.finalize())
    }
}

/// What a task comes to.
enum ChecksumResult: KindResult {
    case checksummed([UInt8])

    static var cases: [String] { ["checksummed"] }
}
