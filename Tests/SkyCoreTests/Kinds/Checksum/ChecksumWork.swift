import Base
import Cryptography
import Glibc
import NIOPosix
import Sky
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

    // In the daemon only so that the example runs without the program: a kind that ships opens files in `.worker`.
    var place: WorkPlace { .daemon(self) }

    func perform(timeLimit: Duration, slowness: Int) async throws -> TaskResult {
        guard case .checksum(let path) = self else { throw SkyError(.failed, "no work") }
        return try await NIOThreadPool.singleton.runIfActive {
            TaskResult(ChecksumResult.checksummed(try ChecksumWork.digest(of: path)))
        }
    }

    private static func digest(of path: String) throws -> [UInt8] {
        // Throws `unavailable` where it cannot be opened: another node may have it.
        let file = try RegularFile(path)
        let stamp = try file.stamp()
        var hash = SHA256()
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = read(file.descriptor, &block, block.count), count != 0 {
            guard count > 0 else { throw file.failure() }
            hash.update(block[..<count])
        }
        guard try file.stamp() == stamp else { throw SkyError(.failed, "\(path): it changed while it was read") }
        return hash.finalize()
    }
}

/// What a task comes to.
enum ChecksumResult: KindResult {
    case checksummed([UInt8])

    static var cases: [String] { ["checksummed"] }
}

/// What those who watch such a job hear, beside what they hear of every job.
enum ChecksumEvent: KindEvent {
    case checksummed(path: String, String)

    static var cases: [String] { ["checksummed"] }

    var words: String? {
        guard case .checksummed(let path, let digest) = self else { return nil }
        return "\(digest)  \(path)"
    }

    var name: String { "checksum" }

    var fields: any Encodable {
        guard case .checksummed(let path, let digest) = self else { return [String: String]() }
        return ["path": path, "sha256": digest]
    }
}
