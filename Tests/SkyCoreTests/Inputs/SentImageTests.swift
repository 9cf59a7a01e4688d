import Base
import Fixtures
import Glibc
import NIOCore
import Testing
import Transport

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

/// Images that a command has sent to a node: they are read under their digest, and known by the command's path.
@Suite struct SentImageTests {
    let folder = TemporaryFolder()
    let inputs = TemporaryFolder()

    private func frame(_ seed: UInt64) -> [UInt8] {
        var frame = TestFrame(width: 300, height: 260, seed: seed)
        frame.addStars(10)
        return frame.fits()
    }

    private func engine() -> SkyEngine {
        SkyEngine(supply: NoSupply(), readFolders: [folder.path], inputs: inputs.path)
    }

    private struct NoSupply: ImageSupply {
        func image(_ file: PixelFile, holder: PixelHolder) throws(SkyError) -> any PixelSource {
            throw SkyError(.unavailable, "nobody has it")
        }
    }

    /// A frame that was sent, and the path that it has on the command's machine.
    private func sent() throws -> (image: ImageReference, bytes: [UInt8]) {
        let bytes = frame(5)
        var content = try FileContent(of: folder.write(bytes, "original"))
        unlink(folder.path + "/original")
        content.identity = nil
        _ = inputs.write(bytes, HexText.of(content.digest))
        return (ImageReference(path: folder.path + "/sky.fits", hdu: nil, content: content), bytes)
    }

    private func inspected(_ image: ImageReference, _ engine: SkyEngine) throws -> ImageInfo {
        guard case .inspected(let info) = try engine.perform(.inspect(image, withContent: false)) else {
            throw SkyError(.failed, "another answer")
        }
        return info
    }

    @Test(arguments: [false, true])
    func `a sent image is scanned whatever lies under its path, and has its digest`(hasOther: Bool) throws {
        let (image, bytes) = try sent()
        if hasOther { _ = folder.write(frame(6), "sky.fits") }
        let engine = engine()
        let info = try inspected(image, engine)
        #expect(info.content?.digest == image.content?.digest && info.content?.hexadecimal != nil)
        let content = try #require(info.content)
        let rect = PixelRect(x: 0, y: 0, width: 300, height: 260)
        let pixels = try engine.with(content, of: image.path) {
            try engine.pixels(path: image.path, hdu: nil, rect: rect)
        }
        let own = try FITSImage(path: folder.write(bytes, "own"), hdu: nil).read(rect)
        #expect(pixels == own)
        // Another node gets its parts, and an error names the command's path.
        let request = PixelRequest(
            file: PixelFile(path: image.path, content: content, hdu: nil), part: .header, holder: nil)
        #expect(try engine.part(request).readableBytes > 0)
        let wrong = #expect(throws: SkyError.self) {
            try engine.with(content, of: image.path) { try engine.pixels(path: image.path, hdu: 7, rect: rect) }
        }
        #expect(wrong?.message.contains("sky.fits") == true && wrong?.message.contains(inputs.path) == false)
    }

    @Test func `a node that was not sent the image does not take another one for it`() throws {
        let (image, bytes) = try sent()
        unlink(inputs.path + "/" + HexText.of(try #require(image.content).digest))
        #expect(throws: SkyError.self) { try inspected(image, engine()) }
        _ = folder.write(frame(6), "sky.fits")
        let refused = #expect(throws: SkyError.self) { try inspected(image, engine()) }
        #expect(refused?.kind == .unavailable && refused?.message.contains("not the file that the command has") == true)
        _ = folder.write(bytes, "sky.fits")
        #expect(try inspected(image, engine()).width == 300, "it is the same file")
    }

    /// The node to which files were sent, over no wire.
    private struct Holder: PixelSupply, @unchecked Sendable {
        // Tests of one thread.
        let engine: SkyEngine
        func parts(_ requests: [PixelRequest]) throws(SkyError) -> [ByteBuffer] {
            var parts: [ByteBuffer] = []
            for request in requests {
                if let objection = request.objection { throw SkyError(.badInput, objection) }
                parts.append(try engine.part(request))
            }
            return parts
        }
    }

    @Test func `a node that was not sent the image has the work done by the one that was, and names that one`() throws {
        var (image, _) = try sent()
        let holder = PixelHolder(node: .random(), name: "asked")
        image.holder = holder
        let (here, absent) = (engine(), SkyError(.unavailable, "not here"))
        let supply = Holder(engine: here)
        let inspect = SkyWork.inspect(image, withContent: true)
        let preview = SkyWork.preview(image, maximumSide: 100, encodes: true)
        for work in [inspect, preview] {
            #expect(throws: SkyError.self) { try work.perform(on: SkyEngine(supply: NoSupply())) }
            let request = try #require(PixelRequest(work))
            switch (try work.ask(request, supply, instead: absent), try work.perform(on: here)) {
            case (.inspected(let there), .inspected(let own)):
                #expect(there.holder == holder && there.content == own.content && there.header == own.header)
                var result = SkyResult.inspected(there)
                result.sign(by: NodeLabel(id: .random(), name: "worker"))
                guard case .inspected(let signed) = result else { break }
                #expect(signed.holder == holder)
            case (.preview(let there), .preview(let own)): #expect(there.pixels == own.pixels)
            default: Issue.record("another answer")
            }
        }
        // What is wrong with the image is said; that it is not there, as the node itself says it.
        image.hdu = 7
        let wrong = SkyWork.inspect(image, withContent: true)
        let said = #expect(throws: SkyError.self) {
            try wrong.ask(try #require(PixelRequest(wrong)), supply, instead: absent)
        }
        #expect(said?.kind == .badInput && said?.message.contains("sky.fits") == true)
        image.content?.digest[0] ^= 1
        let other = SkyWork.inspect(image, withContent: true)
        let missing = #expect(throws: SkyError.self) {
            try other.ask(try #require(PixelRequest(other)), supply, instead: absent)
        }
        #expect(missing == absent)
    }

    @Test func `a node does no other work for others, and tells of no file that they do not know`() throws {
        var (image, bytes) = try sent()
        #expect(PixelRequest(.inspect(image, withContent: true)) == nil, "no node is known to have it")
        image.holder = PixelHolder(node: .random(), name: "asked")
        let rect = PixelRect(x: 0, y: 0, width: 9, height: 9)
        let sector = Sector(index: 0, core: rect, padded: rect)
        #expect(PixelRequest(.background(image, sector, ScanConfiguration())) == nil)
        var request = try #require(PixelRequest(.inspect(image, withContent: true)))
        request.file.path = folder.write(bytes, "own.fits")
        #expect(request.objection == "the work is on another file")
        request.part = .result(of: ByteBuffer(string: "x"))
        #expect(request.objection == "no such work is done")
        for name in ["own.fits", "nowhere.fits"] {
            image.companions = Companions()
            image.companions?.mask = Companions.Image(path: folder.path + "/" + name)
            let curious = try #require(PixelRequest(.inspect(image, withContent: true)))
            let refused = #expect(throws: SkyError.self) { try engine().part(curious) }
            #expect(refused?.message.hasSuffix("not all of its files are known") == true)
        }
    }

    @Test func `an image without a known digest is the one under its path`() throws {
        let (image, _) = try sent()
        _ = folder.write(frame(6), "sky.fits")
        let plain = ImageReference(path: image.path, hdu: nil)
        #expect(try inspected(plain, engine()).content?.digest != image.content?.digest)
    }

    // MARK: - All work of a scan

    /// What a node has under the paths of files that were sent to it.
    enum Neighbour: CaseIterable { case nothing, another, same, sameUnasked }

    /// An image with weights, a mask and an image in which its sources are found, each in a file of its own.
    private func files() -> [String: [UInt8]] {
        func frame(_ seed: UInt64, _ change: (inout TestFrame) -> Void) -> [UInt8] {
            var frame = TestFrame(width: 400, height: 300, seed: seed)
            change(&frame)
            return frame.fits()
        }
        func stars(_ frame: inout TestFrame) {
            frame.addStars(40)
        }
        return [
            "sky.fits": frame(71, stars), "detection.fits": frame(72, stars),
            "weight.fits": frame(73) {
                for index in $0.pixels.indices { $0.pixels[index] = index % 400 < 200 ? 1 : 2 }
            },
            "mask.fits": frame(74) { for index in $0.pixels.indices { $0.pixels[index] = index < 4000 ? 1 : 0 } },
        ]
    }

    private func plan(_ image: ImageReference, _ engine: SkyEngine) throws -> ScanPhases {
        var configuration = ScanConfiguration()
        (configuration.meshSize, configuration.sectorSize, configuration.margin) = (64, 64, 16)
        if image.detection == nil { configuration.filter = .seeing }
        var request = SkyRequest(image: image, configuration: configuration)
        request.pictureSide = 200
        // They show what one image was measured on.
        if image.detection == nil { request.checkImages = [.segmentation, .background, .subtracted] }
        try request.validate()
        var plan = ScanPhases(request)
        var (count, number) = (plan.begin().newWork, 0)
        while number < count {
            let work = try #require(plan.work(number))
            let step = plan.completed(number, try work.perform(on: engine))
            if let error = step.abort { throw error }
            count += step.newWork
            number += 1
        }
        return plan
    }

    @Test(arguments: Neighbour.allCases, [false, true])
    func `all work of a scan reads the files that were sent, whatever a node has under their paths`(
        neighbour: Neighbour, isDual: Bool
    ) throws {
        let files = files()
        for (name, bytes) in files { _ = folder.write(bytes, name) }
        var image = ImageReference(path: folder.path + "/sky.fits", hdu: nil)
        var companions = Companions()
        companions.noise = Companions.Image(path: folder.path + "/weight.fits")
        companions.mask = Companions.Image(path: folder.path + "/mask.fits")
        companions.kind = .weight
        image.companions = companions
        if isDual { image.detection = DetectionImage(Companions.Image(path: folder.path + "/detection.fits")) }
        let own = try plan(image, SkyEngine())
        for (name, bytes) in files {
            let path = folder.path + "/" + name
            var content = try FileContent(of: path)
            content.identity = nil
            _ = inputs.write(bytes, HexText.of(content.digest))
            if neighbour != .sameUnasked { image.expect(content, at: path) }
            switch neighbour {
            case .nothing: unlink(path)
            case .another: _ = folder.write(frame(6), name)
            case .same, .sameUnasked: break
            }
        }
        let sent = try plan(image, engine())
        let sources = try #require(own.catalogue).sources
        #expect(sources.count > 20)
        #expect(sent.catalogue?.sources == sources)
        #expect(own.preview != nil && sent.preview?.pixels == own.preview?.pixels)
        #expect(
            (own.planes == nil) == isDual && sent.planes?.parts.map(\.subtracted) == own.planes?.parts.map(\.subtracted)
        )
    }

    @Test(arguments: Neighbour.allCases)
    func `two images that were sent are compared`(neighbour: Neighbour) throws {
        let engine = engine()
        var images: [CompareRequest.Image] = []
        for (name, seed) in [("new.fits", UInt64(5)), ("old.fits", 7)] {
            let bytes = frame(seed)
            var content = try FileContent(of: folder.write(bytes, name))
            if neighbour != .sameUnasked { content.identity = nil }
            _ = inputs.write(bytes, HexText.of(content.digest))
            let path = folder.path + "/" + name
            switch neighbour {
            case .nothing: unlink(path)
            case .another: _ = folder.write(frame(6), name)
            case .same, .sameUnasked: break
            }
            let reference = ImageReference(path: path, hdu: 0, content: content)
            let plan = try plan(ImageReference(path: path, hdu: 0, content: content), engine)
            images.append(CompareRequest.Image(reference: reference, background: try #require(plan.background)))
        }
        let rect = PixelRect(x: 0, y: 0, width: 200, height: 200)
        let all = (images[0].reference.contents + images[1].reference.contents)[...]
        for age in [SkyEngine.Age.new, .old] {
            let image = images[age == .new ? 0 : 1].reference
            let pixels = try engine.with(all) {
                try engine.image(image.path, image.hdu, image.layer, image.companions, age).read(rect).values
            }
            let own = try FITSImage(path: folder.write(frame(age == .new ? 5 : 7), "own"), hdu: nil).read(rect)
            #expect(pixels == own)
        }
    }
}
