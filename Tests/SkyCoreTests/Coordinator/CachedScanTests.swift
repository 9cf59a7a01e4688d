import Fixtures
import NIOCore
import Testing
import Transport

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

/// Scans that find their tasks' results in the store, a few at a time.
@Suite struct CachedScanTests {
    private let folder = TemporaryFolder()

    @Test(arguments: [31, 32])
    func `a scan whose other results are all cached still draws the picture`(columns: Int) throws {
        var core = CoordinatorCore(
            incarnation: CoordinatorIncarnation(CoordinatorID(rawValue: 5), generation: 1), node: NodeID(rawValue: 1),
            name: "one")
        let node = NodeID(rawValue: 1)
        var configuration = ScanConfiguration()
        configuration.sectorSize = 64
        var request = SkyRequest(image: ImageReference(path: "/x.fits", hdu: nil), configuration: configuration)
        request.pictureSide = 100
        let job = JobID(rawValue: 1)
        var done = core.carryOut { core in
            core.joined(node, name: "one", isDraining: false)
            core.reserved(Lease(coordinator: CoordinatorID(rawValue: 5), fencingToken: 1, slots: 1), on: node)
            _ = try? core.submit(JobRequest(.sky(request)), token: nil, as: job)
        }
        var info = ImageInfo(width: 64 * columns, height: 64, bitpix: -32, hdu: 0, hasWCS: false)
        info.content = try FileContent(of: folder.write([1, 2, 3]))
        let attempt = done.assigned.first?.request.attempt
        let header = AttemptResult(
            sequence: 1, attempt: try #require(attempt),
            outcome: .done(try WireCoder.encode(TaskResult.sky(.inspected(info)))),
            duration: .zero)
        done = core.carryOut { $0.deliver([header], from: node) }
        var rounds = 0
        while rounds < 10, !done.searches.isEmpty {
            rounds += 1
            let (job, tasks) = done.searches.removeFirst()
            for start in stride(from: tasks.lowerBound, to: tasks.upperBound, by: CoordinatorEffects.lookUpLimit) {
                let part = start..<min(start + CoordinatorEffects.lookUpLimit, tasks.upperBound)
                var found: [TaskID: ByteBuffer] = [:]
                for index in part {
                    guard let task = core.jobs[job]?.plan.task(index) else { continue }
                    let result: TaskResult
                    switch task.work.sky {
                    case .background(_, let sector, _):
                        let pixels = (0..<4096).map { 100 + Float($0 % 7) }
                        result = .sky(
                            .background(
                                try BackgroundTile(pixels: pixels, sector: sector, configuration: configuration)))
                    case .extract(_, let sector, _, _):
                        result = .sky(.extracted(SectorResult(sector: sector.index)))
                    default: continue
                    }
                    found[TaskID(index)] = try WireCoder.encode(result)
                }
                done += core.carryOut { $0.lookedUp(job, part, found) }
            }
        }
        #expect(core.jobs[job]?.report == nil, "the picture is not drawn yet")
        #expect(done.assigned.map(\.request.task.label) == ["picture"])
    }
}
