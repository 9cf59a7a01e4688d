import Base
import NIOCore
import Sky
import Testing
import Transport

@testable import SkyCore
@testable import SkyJobs

/// Tasks and their results go over the wire, and into journals, as they did when all kinds of work were cases of one type.
@Suite struct TaskCodingTests {
    /// The work of a task as versions up to 0.1.0 have it.
    private enum EarlierWork: Codable {
        case simulate(Simulation)
        case inspect(ImageReference, withContent: Bool?)
        case pixels(PixelRequest)
        case preview(ImageReference, maximumSide: Int)
    }

    private enum EarlierResult: Codable {
        case simulated
        case inspected(ImageInfo)
        case pixels(ByteBuffer)
    }

    /// How an attempt ended: from a worker with a result, from a node with that encoded.
    private enum EarlierOutcome<Done: Codable>: Codable {
        case done(Done)
        case fault(String)
        case crash(String)
        case badInput(String)
        case unavailable(String)
        case refused(String)
    }

    private let image = ImageReference(path: "/data/m13.fits", hdu: 1)

    @Test func `the encoding of work has not changed`() throws {
        let request = PixelRequest.tile(3, of: "/data/m13.fits")
        let pairs: [(EarlierWork, ScanTask.Work)] = [
            (.simulate(Simulation(duration: .seconds(2))), .simulate(Simulation(duration: .seconds(2)))),
            (.inspect(image, withContent: true), .sky(.inspect(image, withContent: true))),
            (.pixels(request), .pixels(request)),
            (.preview(image, maximumSide: 800), .sky(.preview(image, maximumSide: 800))),
        ]
        for (earlier, work) in pairs {
            let bytes = try WireCoder.encode(earlier)
            #expect(try WireCoder.encode(work) == bytes)
            #expect(try WireCoder.encode(WireCoder.decode(ScanTask.Work.self, from: bytes)) == bytes)
        }
    }

    @Test func `a worker of an earlier version draws a picture that it is asked to encode`() throws {
        let work = ScanTask.Work.sky(.preview(image, maximumSide: 800, encodes: true))
        guard case .preview(let read, 800) = try WireCoder.decode(EarlierWork.self, from: WireCoder.encode(work)) else {
            Issue.record("it is other work")
            return
        }
        #expect(read.path == image.path)
    }

    @Test func `the encoding of results has not changed`() throws {
        let info = ImageInfo(width: 64, height: 32, bitpix: -32, hdu: 1, hasWCS: false)
        let pairs: [(EarlierResult, TaskResult)] = [
            (.simulated, .simulated), (.inspected(info), .sky(.inspected(info))),
            (.pixels(ByteBuffer(bytes: [1, 2, 3])), .pixels(ByteBuffer(bytes: [1, 2, 3]))),
        ]
        for (earlier, result) in pairs {
            let bytes = try WireCoder.encode(earlier)
            #expect(try WireCoder.encode(result) == bytes)
            #expect(try WireCoder.encode(WireCoder.decode(TaskResult.self, from: bytes)) == bytes)
        }
    }

    /// Every failure that goes over a wire, as it is inside and as it always was outside.
    private func failures<Done: Codable>(of _: Done.Type) -> [(AttemptFailure, EarlierOutcome<Done>)] {
        [
            (.fault("it broke"), .fault("it broke")), (.crash("it died"), .crash("it died")),
            (.permanent("it is none"), .badInput("it is none")), (.unavailable("not here"), .unavailable("not here")),
        ]
    }

    @Test func `the encoding of an attempt's outcome has not changed`() throws {
        let result = ByteBuffer(bytes: [1, 2, 3])
        var ends = failures(of: ByteBuffer.self).map { (AttemptEnd<ByteBuffer>.failure($0), $1) }
        ends += [(.success(result), .done(result)), (.failure(.refused("stopped")), .refused("stopped"))]
        for (end, earlier) in ends {
            let bytes = try WireCoder.encode(AttemptOutcome(end))
            #expect(try WireCoder.encode(earlier) == bytes)
            #expect(try WireCoder.decode(AttemptOutcome.self, from: bytes).end == end)
        }
        var ofWorker = failures(of: TaskResult.self).map { (AttemptEnd<WorkerResult>.failure($0), $1) }
        ofWorker.append((.success(.read(.simulated)), .done(.simulated)))
        for (end, earlier) in ofWorker {
            let bytes = try WireCoder.encode(TaskOutcome(end))
            #expect(try WireCoder.encode(earlier) == bytes)
            let again = try WireCoder.decode(TaskOutcome.self, from: bytes).end
            #expect(try WireCoder.encode(TaskOutcome(again)) == bytes)
        }
    }

    @Test func `a worker encodes a result that its node does not read, with the bytes that the coordinator gets`()
        throws
    {
        let found = TaskResult.sky(.extracted(SectorResult(sector: 3)))
        guard case .encoded(let bytes) = try WorkerResult(found) else {
            Issue.record("a sector is for the coordinator")
            return
        }
        #expect(try bytes == WireCoder.encode(found))
        let again = try WireCoder.decode(
            TaskOutcome.self, from: WireCoder.encode(TaskOutcome(.success(.encoded(bytes)))))
        guard case .success(.encoded(bytes)) = again.end else {
            Issue.record("the bytes do not come as they were sent")
            return
        }
        let info = ImageInfo(width: 8, height: 8, bitpix: -32, hdu: 0, hasWCS: false)
        for read in [TaskResult.sky(.inspected(info)), .pixels(ByteBuffer(bytes: [1]))] {
            guard case .read = try WorkerResult(read) else {
                Issue.record("a header and pixels are for the node")
                return
            }
        }
    }

    @Test func `a reason is cut to its limit`() {
        let long = FailureReason(String(repeating: "x", count: 1 << 20))
        #expect(AttemptOutcome(.failure(.crash(long))).reason?.utf8.count == FailureReason.limit)
    }

    @Test func `an error says whether another attempt may help`() {
        let ends = [SkyError.Kind.failed, .badInput, .unavailable].map { AttemptFailure(of: SkyError($0, "so it is")) }
        #expect(ends == [.fault("so it is"), .permanent("so it is"), .unavailable("so it is")])
        #expect(ends.map(\.isOfInput) == [false, true, true])
        #expect(AttemptFailure(of: CancellationError()) == .fault("CancellationError()"))
    }

    @Test func `the holder of pixels is encoded with its node id as before`() throws {
        struct Earlier: Encodable {
            var node: NodeID
            var name: String
        }
        let node = NodeID.random()
        let bytes = try WireCoder.encode(Earlier(node: node, name: "dome-1"))
        #expect(try WireCoder.encode(PixelHolder(node: node, name: "dome-1")) == bytes)
    }

    @Test func `unknown fields of a later version are ignored, and two kinds of work are refused`() throws {
        struct Later: Encodable {
            var inspect: Inspect?
            var preview: Preview?
            var hint: String?

            struct Inspect: Encodable {
                var _0: ImageReference
            }

            struct Preview: Encodable {
                var _0: ImageReference
                var maximumSide = 100
            }
        }
        let one = try WireCoder.encode(Later(inspect: .init(_0: image), hint: "soon"))
        #expect(try WireCoder.decode(ScanTask.Work.self, from: one).sky?.pixels == nil)
        let two = try WireCoder.encode(Later(inspect: .init(_0: image), preview: .init(_0: image)))
        #expect(throws: (any Error).self) { try WireCoder.decode(ScanTask.Work.self, from: two) }
    }

    @Test func `work of an unknown kind is refused`() throws {
        enum Later: Codable {
            case develop(String)
        }
        let bytes = try WireCoder.encode(Later.develop("raw"))
        #expect(throws: (any Error).self) { try WireCoder.decode(ScanTask.Work.self, from: bytes) }
        #expect(throws: (any Error).self) { try WireCoder.decode(TaskResult.self, from: bytes) }
    }
}
