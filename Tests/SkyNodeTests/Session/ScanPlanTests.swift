import Base
import Foundation
import Sky
import Testing

@testable import SkyCore
@testable import SkyJobs
@testable import SkyNode

/// Which images are scanned with which jobs, and where their results go.
struct ScanPlanTests {
    private func scan(_ item: ScanItem?) throws -> SkyRequest { try #require(item?.request.kind.scan) }

    @Test func `each image has a job, and results of its name in the output folder`() throws {
        let plan = try ScanFixture.plan("-o out/ --threshold 3", images: ["night/a.fits", "b.FIT.gz", "c"])
        #expect(plan.items.map(\.stem) == ["out/a", "out/b", "out/c"])
        #expect(plan.items.map(\.name) == ["night/a.fits", "b.FIT.gz", "c"])
        #expect(plan.stems == ["out/a", "out/b", "out/c"] && plan.reference == nil)
        let request = try scan(plan.items[0])
        #expect(request.configuration.threshold == 3 && request.pictureSide == ScanPlan.pictureSide)
        #expect(request.usesCache == true && request.purpose == nil && request.checkImages == nil)
    }

    @Test func `images of one name do not overwrite each other's results`() throws {
        let plan = try ScanFixture.plan(images: ["a/sky.fits", "b/sky.fits", "c/sky.fit", "d/sky-2.fits"])
        #expect(plan.items.map(\.stem) == ["./sky", "./sky-2", "./sky-3", "./sky-2-2"])
    }

    @Test func `an image of a colour camera makes four jobs`() throws {
        let plan = try ScanFixture.plan("--bayer rggb", images: ["/d/a.fits"])
        #expect(plan.items.map(\.name) == ["/d/a.fits[R]", "/d/a.fits[G1]", "/d/a.fits[G2]", "/d/a.fits[B]"])
        #expect(plan.items.map(\.stem) == ["./a-R", "./a-G1", "./a-G2", "./a-B"])
        #expect(plan.items.map { $0.layer?.bayer?.colour } == [.red, .greenOfRed, .greenOfBlue, .blue])
        #expect(try ScanFixture.plan().items[0].layer == nil, "all of an image is no layer")
    }

    @Test func `several images, or a single output file, have a merged catalogue`() throws {
        #expect(try !ScanFixture.plan().merges)
        #expect(try ScanFixture.plan(images: ["a", "b"]).merges)
        let separate = try ScanFixture.plan("--no-merge", images: ["a", "b"])
        #expect(!separate.merges && !separate.mergesImagesOfOne)
        let one = try ScanFixture.plan("-o all.csv --no-merge")
        #expect(one.merges && !one.mergesImagesOfOne)
        #expect(try scan(one.items[0]).pictureSide == nil, "nothing would show it")
    }

    @Test func `options of the job reach every request`() throws {
        let plan = try ScanFixture.plan(
            "--no-cache --fail-sector 3 --no-picture --check-image background --priority 7 --retries 2 --use-node anna",
            images: ["a", "b"])
        #expect(plan.items.count == 2)
        for item in plan.items {
            let request = try scan(item)
            #expect(request.usesCache == false && request.failSector == 2 && request.pictureSide == nil)
            #expect(request.checkImages == [.background])
            #expect(item.request.options.priority == 7 && item.request.options.retries == 2)
            #expect(item.request.options.use == ["anna"])
        }
    }

    @Test func `an invalid job is refused before any is submitted`() throws {
        for line in ["--retries 1000", "--priority 101", "--allow-failures=-1", "--time-limit 0"] {
            let error = try #require(throws: SkyError.self, "\(line)") { _ = try ScanFixture.plan(line) }
            #expect(error.kind == .badInput)
        }
    }

    @Test func `the reference is scanned for comparison, and has no files of its own`() throws {
        let plan = try ScanFixture.plan(
            "--reference r.fits --coordinate-error 5 --difference --check-image background", images: ["a.fits"],
            reference: "r.fits")
        let reference = try scan(plan.reference)
        #expect(reference.purpose?.isReference == true && reference.purpose?.isCompared == true)
        #expect(reference.purpose?.coordinateError == nil && reference.pictureSide == nil)
        #expect(reference.checkImages == nil && plan.reference?.stem == "./r")
        let image = try scan(plan.items[0])
        #expect(image.purpose?.isReference == false && image.purpose?.isCompared == true)
        #expect(image.purpose?.coordinateError == 5 && plan.coordinateError == 5)
        #expect(plan.writesDifference && plan.injectedChanges == InjectedChange.usualCount)
        #expect(try ScanFixture.plan("--inject-changes 9").injectedChanges == 9)
    }

    @Test func `the request of a scan has the artificial stars, so that it can fail early`() throws {
        let plan = try ScanFixture.plan(injection: InjectionDemand(count: 30))
        #expect(try scan(plan.items[0]).purpose?.injection?.count == 30)
    }

    @Test func `one bad file does not stop the others, and only bad files are an error`() throws {
        try ScanFixture.plan(refusals: 2).checkIsNotEmpty()
        let refused = try ScanFixture.plan(images: [], refusals: 2)
        let error = try #require(throws: SkyError.self) { try refused.checkIsNotEmpty() }
        #expect(error.message == "/d/bad0.fits: no such file" && refused.refusals.count == 2)
        let none = try ScanFixture.plan(images: [])
        let failure = try #require(throws: CommandFailure.self) { try none.checkIsNotEmpty() }
        #expect(failure.message == "every image is another one's weights or mask" && failure.status == .usage)
    }

    // MARK: - One image of several in a file

    @Test func `further images of a file have names and requests of their own`() throws {
        let item = try ScanFixture.plan("-o out/").items[0]
        let other = item.of(hdu: 2, besides: ["out/a"])
        #expect(other.name == "/d/a.fits[2]" && other.stem == "out/a-hdu2" && other.hdu == 2)
        let request = try scan(other)
        #expect(request.image.hdu == 2 && request.configuration.hdu == 2)
        #expect(item.named(hdu: 2, besides: ["out/a-hdu2"]).stem == "out/a-hdu2-hdu2", "another file has that name")
        let plane = item.of(plane: 3, besides: [])
        #expect(plane.name == "/d/a.fits[plane 3]" && plane.stem == "out/a-plane3")
        #expect(plane.layer?.plane == 3)
        #expect(other.order > plane.order && plane.order > item.order, "images before planes")
    }

    @Test func `the request of a compared image has the place of the reference`() throws {
        let place = try JSONDecoder().decode(
            SkyCircle.self, from: Data(#"{"alpha":10,"delta":20,"radius":0.5}"#.utf8))
        let compared = try ScanFixture.plan("--reference r.fits", reference: "r.fits").items[0].compared(with: place)
        #expect(try scan(compared).purpose?.reference == place)
        let plain = try ScanFixture.plan().items[0].compared(with: place)
        #expect(try scan(plain).purpose == nil, "nothing follows its scan")
    }
}
