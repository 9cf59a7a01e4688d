import Base
import Fixtures
import Glibc
import NIOCore
import Testing
import Transport

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

/// What a peer may ask for, and what it learns of files that it does not know.
@Suite struct PixelDoorTests {
    let folder = TemporaryFolder()

    private func request(_ path: String, _ content: FileContent, _ part: PixelRequest.Part = .header) -> PixelRequest {
        PixelRequest(file: PixelFile(path: path, content: content, hdu: nil), part: part, holder: nil)
    }

    private func refusal(_ request: PixelRequest) -> SkyError? {
        #expect(throws: SkyError.self) { try SkyEngine().part(request) }
    }

    private func frame() -> String {
        var frame = TestFrame(width: 600, height: 520, seed: 5)
        frame.addStars(10)
        return folder.write(frame.fits())
    }

    @Test func `a peer that knows a file's content gets its parts`() throws {
        let path = frame()
        let content = try FileContent(of: path)
        let tile = try SkyEngine().part(request(path, content, .tile(PixelTile(column: 1, row: 1))))
        #expect(PackedPixels.decode(tile, count: 88 * 8) != nil)
        // A peer of an earlier version sends only size, time and digest.
        var earlier = content
        earlier.identity = nil
        #expect(try SkyEngine().part(request(path, earlier)).readableBytes > 0)
        let sample = try FileContent(of: path, sampled: true)
        #expect(try SkyEngine().part(request(path, sample)).readableBytes > 0)
    }

    @Test func `the size and the time of a file are not enough to get its parts`() throws {
        let path = frame()
        for isSample in [false, true] {
            var content = try FileContent(of: path, sampled: isSample)
            content.digest[3] ^= 1
            content.identity = nil
            #expect(refusal(request(path, content))?.kind == .unavailable)
        }
    }

    @Test func `a peer that does not know a file's content does not learn whether it exists`() throws {
        let secret = folder.write(Array("<!DOCTYPE".utf8), "secret")
        let fifo = folder.path + "/fifo"
        #expect(mkfifo(fifo, 0o600) == 0)
        var known = try FileContent(of: secret)
        known.digest[0] ^= 1
        known.identity?.inode ^= 1
        var words: Set<String> = []
        for path in [secret, fifo, folder.path, folder.path + "/nothing", "/dev/zero", "/dev/tty", "/proc/kmsg"] {
            for content in [FileContent.unknown, known] {
                let error = refusal(request(path, content))
                #expect(error?.kind == .unavailable)
                words.insert(error?.message.replacing(path, with: "PATH") ?? "")
            }
        }
        #expect(words.count == 1 && !words.joined().contains("DOCTYPE"), "\(words)")
    }

    @Test func `a peer that knew the earlier content learns that the file has changed`() throws {
        let path = frame()
        let content = try FileContent(of: path)
        let descriptor = open(path, O_WRONLY | O_APPEND)
        _ = [UInt8](repeating: 0, count: 2880).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
        #expect(refusal(request(path, content))?.kind == .badInput)
    }

    @Test func `an absurd request is refused before it is used`() async throws {
        let good = PixelRequest.tile(0, of: "/sky.fits")
        #expect(good.objection == nil)
        var bad: [PixelRequest] = ["", "sky.fits", "/a\0b", "/" + String(repeating: "x", count: 1000)].map {
            .tile(0, of: $0)
        }
        for (column, row) in [(-1, 0), (0, -1), (Int.max, 0), (0, .min), (1 << 30, 1)] {
            var request = good
            request.part = .tile(PixelTile(column: column, row: row))
            bad.append(request)
        }
        for change: (inout PixelFile) -> Void in [
            { $0.hdu = -1 }, { $0.hdu = .max }, { $0.content.size = -1 }, { $0.content.size = .min },
            { $0.content.digest = [] }, { $0.content.digest = [UInt8](repeating: 0, count: 1 << 20) },
        ] {
            var request = good
            change(&request.file)
            bad.append(request)
        }
        var request = good
        request.holder = PixelHolder(node: .random(), name: "a\u{1B}[2J")
        bad.append(request)
        let system = ClusterSystem(ClusterSettings(name: "doors"))
        let actor = PixelActor(actorSystem: system) { _ in .part(ByteBuffer()) }
        for request in bad {
            #expect(request.objection != nil, "\(request.part)")
            guard case .badInput = try await actor.part(request) else {
                Issue.record("it was taken: \(request)")
                continue
            }
            guard case .badInput? = refusal(request)?.kind else {
                Issue.record("it was read for: \(request)")
                continue
            }
        }
        guard case .part = try await actor.part(good) else {
            Issue.record("a good one was refused")
            return
        }
    }
}
