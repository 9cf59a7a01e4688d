import Base
import NIOCore
import Testing
import Transport

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

/// A message that no honest peer sends is refused where it arrives.
@Suite struct MessageLimitTests {
    private let incarnation = CoordinatorIncarnation(CoordinatorID(rawValue: 5), generation: 1)
    private let attempt = AttemptID(job: JobID(rawValue: 1), task: 0, number: 1)
    private let endless = Duration(secondsComponent: 1 << 40, attosecondsComponent: 0)

    private func result(_ change: (inout AttemptResult) -> Void) -> AttemptResult {
        var result = AttemptResult(sequence: 1, attempt: attempt, outcome: .refused("x"), duration: .zero)
        change(&result)
        return result
    }

    @Test func `numbers that overflow are refused`() {
        let results = [
            result { $0.attempt.number = .max }, result { $0.attempt.number = 0 },
            result { $0.attempt.generation = .max }, result { $0.attempt.generation = 0 },
            result { $0.attempt.task = -1 }, result { $0.attempt.task = TaskID(.max) },
            result { $0.duration = endless }, result { $0.duration = .seconds(-1) },
            result { $0.duration = Duration(secondsComponent: .min, attosecondsComponent: 0) },
            result { $0.sequence = 0 }, result { $0.sequence = .max },
            result { $0.outcome = .fault(String(repeating: "x", count: 1 << 20)) },
        ]
        for result in results {
            let reply = CollectReply(results: [result], lease: nil, attempts: nil)
            #expect(throws: InvalidMessage.self) { try reply.validate() }
        }
        #expect(throws: Never.self) {
            try CollectReply(results: [result { _ in }], lease: nil, attempts: [attempt], receipts: [7]).validate()
        }
    }

    @Test func `lists that are out of order, too long or of unequal length are refused`() {
        let two = [result { $0.sequence = 2 }, result { $0.sequence = 2 }]
        var lease = Lease(coordinator: incarnation.coordinator, fencingToken: 1, slots: -1)
        let replies = [
            CollectReply(results: two, lease: nil, attempts: nil),
            CollectReply(results: [], lease: lease, attempts: nil),
            CollectReply(results: [], lease: nil, attempts: [attempt], receipts: []),
            CollectReply(results: [], lease: nil, attempts: [AttemptID(job: attempt.job, task: 0, number: .max)]),
        ]
        for reply in replies { #expect(throws: InvalidMessage.self) { try reply.validate() } }
        lease.slots = .max
        #expect(throws: InvalidMessage.self) { try lease.validate() }
    }

    @Test func `assignments that no coordinator makes are refused`() {
        let image = ImageReference(path: "/x.fits", hdu: nil)
        let huge = PixelRect(x: .max, y: 0, width: .max, height: 1)
        let sector = Sector(index: 0, core: huge, padded: huge)
        let works: [ScanTask.Work] = [
            .simulate(Simulation(duration: endless)),
            .sky(.inspect(ImageReference(path: "x.fits", hdu: nil), withContent: nil)),
            .sky(.inspect(ImageReference(path: "/x\0.fits", hdu: nil), withContent: nil)),
            .sky(.inspect(ImageReference(path: "/x.fits", hdu: -1), withContent: nil)),
            .sky(.background(image, sector, ScanConfiguration())),
            .sky(
                .background(
                    image, Sector(index: -1, core: PixelRect(x: 0, y: 0, width: 1, height: 1), padded: huge),
                    ScanConfiguration())),
            .sky(.preview(image, maximumSide: .max)),
        ]
        for work in works {
            let request = RunRequest(attempt: attempt, task: ScanTask(work, label: ""), timeLimit: .seconds(1))
            let assignment = Assignment(incarnation: incarnation, attempts: [request])
            #expect(throws: InvalidMessage.self, "\(work)") { try assignment.validate() }
        }
        var endlessly = RunRequest(
            attempt: attempt, task: ScanTask(.simulate(Simulation(duration: .zero)), label: ""), timeLimit: endless)
        #expect(throws: InvalidMessage.self) { try endlessly.validate() }
        endlessly.timeLimit = .seconds(1)
        #expect(throws: Never.self) { try endlessly.validate() }
        #expect(throws: InvalidMessage.self) { try ReserveRequest(incarnation: incarnation, wanted: -1).validate() }
        for people in [0, -1, .min, .max, LeaseBook.peopleLimit + 1] {
            #expect(throws: InvalidMessage.self) {
                try ReserveRequest(incarnation: incarnation, wanted: 1, people: people).validate()
            }
        }
        #expect(throws: Never.self) {
            try ReserveRequest(incarnation: incarnation, wanted: 1, people: LeaseBook.peopleLimit).validate()
        }
        #expect(throws: InvalidMessage.self) {
            try CollectRequest(
                incarnation: CoordinatorIncarnation(incarnation.coordinator, generation: .max), received: 0,
                acknowledged: 0, fencingToken: 0,
                isFirst: true
            ).validate()
        }
    }

    @Test func `requests that no command makes are refused`() {
        func sky(_ change: (inout SkyRequest) -> Void) -> JobRequest {
            var request = SkyRequest(
                image: ImageReference(path: "/x.fits", hdu: nil), configuration: ScanConfiguration())
            change(&request)
            return JobRequest(.sky(request))
        }
        var named = sky { _ in }
        named.options.use = [String(repeating: "n", count: 1000)]
        let requests = [
            sky { $0.failSector = .max }, sky { $0.failSector = -1 }, sky { $0.pictureSide = .max },
            sky { $0.image.path = "" }, sky { $0.image.hdu = .min }, sky { $0.configuration.gain = .nan },
            sky {
                $0.image.content = nil; $0.image.path = "/" + String(repeating: "x", count: 5000)
            }, named,
        ]
        for request in requests { #expect(throws: SkyError.self) { try request.validate() } }
        #expect(throws: Never.self) { try sky { $0.failSector = 0 }.validate() }
    }

    @Test func `sizes, sectors and places that no image has are refused`() throws {
        let tile = PixelRect(x: 0, y: 0, width: 64, height: 64)
        var info = ImageInfo(width: 64, height: 64, bitpix: -32, hdu: 0, hasWCS: false)
        #expect(throws: Never.self) { try info.validate() }
        for size in [(Int.max, 1), (0, 1), (-1, -1), (1 << 40, 1 << 40)] {
            (info.width, info.height) = size
            #expect(throws: SkyError.self) { try info.validate() }
        }
        for sector in [
            Sector(index: .max, core: tile, padded: tile),
            Sector(index: 0, core: PixelRect(x: .max, y: 0, width: 1, height: 1), padded: tile),
            Sector(index: 0, core: tile, padded: PixelRect(x: 0, y: .min, width: 1, height: 1)),
        ] {
            #expect(throws: SkyError.self) { try sector.validate() }
        }
    }

    @Test func `an image with too many sectors is refused`() {
        var configuration = ScanConfiguration()
        configuration.sectorSize = 64
        let info = ImageInfo(width: 2_147_483_646, height: 1, bitpix: 8, hdu: 0, hasWCS: false)
        let error = #expect(throws: SkyError.self) { try SectorGrid(info: info, configuration: configuration) }
        #expect(error?.message.contains("33554432 sectors") == true)
    }

    @Test func `sector runs with numbers that cannot be summed are refused`() {
        let honest = SectorRun(sector: 0, node: "anna", duration: .seconds(1), sources: 7)
        #expect(throws: Never.self) { try [honest, honest].validate() }
        for change: (inout SectorRun) -> Void in [
            { $0.duration = endless }, { $0.duration = .seconds(-1) }, { $0.sources = .max }, { $0.sources = -1 },
            { $0.sector = -1 }, { $0.sector = .max }, { $0.node = String(repeating: "n", count: 1000) },
        ] {
            var run = honest
            change(&run)
            // The caller checks the answer in the same way: through the protocol that its type conforms to.
            let answer: any ValidatedMessage = [honest, run]
            #expect(throws: InvalidMessage.self, "\(run)") { try answer.validate() }
        }
    }

    @Test func `the reason for missing coordinates must be one short printable line`() {
        var info = ImageInfo(width: 64, height: 64, bitpix: -32, hdu: 0, hasWCS: false)
        info.missingCoordinates = "the header's are linear (X, Y)"
        #expect(throws: Never.self) { try info.validate() }
        for words in [String(repeating: "x", count: 201), "two\nlines", "\u{1B}[2J", "\u{202E}back"] {
            info.missingCoordinates = words
            #expect(throws: SkyError.self) { try info.validate() }
        }
    }

    @Test func `a header with a node name that is too long is refused`() {
        var info = ImageInfo(width: 64, height: 64, bitpix: -32, hdu: 0, hasWCS: false)
        info.holder = PixelHolder(node: .random(), name: String(repeating: "n", count: 300))
        #expect(throws: SkyError.self) { try info.validate() }
        info.holder?.name = "anna"
        #expect(throws: Never.self) { try info.validate() }
    }
}
