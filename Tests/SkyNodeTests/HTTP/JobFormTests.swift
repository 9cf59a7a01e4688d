import Foundation
import NIOCore
import SkyCore
import SkyJobs
import Testing

@testable import Sky
@testable import SkyNode

/// Jobs in JSON, and the complaints about what is none.
struct JobFormTests {
    private func submission(_ text: String) throws -> Submission { try Submission(json: ByteBuffer(string: text)) }

    @Test func `the fields become the job's request`() throws {
        guard
            let request = try submission(#"{"kind":"simulate","tasks":3,"seconds":0.25}"#).request.kind.rehearsal
        else {
            Issue.record("no simulation")
            return
        }
        #expect(request.tasks == 3 && request.duration == .milliseconds(250))
        let job = try submission(
            #"{"kind":"scan","path":"/d/a.fits","hdu":2,"options":{"threshold":2.5,"preset":"sensitive","min-area":3},"priority":5,"retries":0,"token":"t"}"#
        )
        guard let sky = job.request.kind.scan else {
            Issue.record("no scan")
            return
        }
        #expect(sky.image.path == "/d/a.fits" && sky.image.hdu == 2 && sky.configuration.hdu == 2)
        #expect(sky.configuration.threshold == 2.5 && sky.configuration.minimumArea == 3)
        #expect(job.request.options.priority == 5 && job.request.options.retries == 0 && job.token == "t")
    }

    @Test func `plane, colour and mask mean the same as on the command line`() throws {
        func image(_ options: String) throws -> ImageReference? {
            let text = #"{"kind":"scan","path":"/d/a.fits.gz","options":\#(options)}"#
            guard let request = try submission(text).request.kind.scan else { return nil }
            return request.image
        }
        #expect(try image(#"{"plane":3,"threshold":2}"#)?.layer == ImageLayer(plane: 3))
        let colour = try image(#"{"bayer":"rggb","colour":"G1"}"#)?.layer
        #expect(colour == ImageLayer(bayer: BayerGrid(.rggb, .greenOfRed)))
        #expect(try image(#"{"mask":"auto"}"#)?.companions?.takesOwn == true)
        #expect(try image(#"{"mask":"none"}"#)?.companions == nil && image("{}")?.layer == nil)
        #expect(try image(#"{"mask":"hdu:2"}"#)?.companions?.mask == Companions.Image(path: "/d/a.fits.gz", hdu: 2))
        #expect(try image(#"{"mask":"%.mask.fits"}"#)?.companions?.mask?.path == "/d/a.mask.fits")
    }

    @Test(arguments: [
        (#"{"plane":0}"#, "`options.plane` must be a whole number from 1 to 1000000"),
        (#"{"plane":1.5}"#, "`options.plane` must"), (#"{"bayer":"RGGB"}"#, "go together"),
        (#"{"colour":"G1"}"#, "go together"), (#"{"bayer":"RGB","colour":"R"}"#, "`options.bayer` must be one of RGGB"),
        (#"{"bayer":"RGGB","colour":"G"}"#, "`options.colour` must be R, G1, G2 or B"),
        (#"{"mask":"bad.fits"}"#, "absolute path"), (#"{"mask":"hdu:10000"}"#, "a number from 0 to 9999"),
        (#"{"mask":"hdu:-1"}"#, "a number from 0 to 9999"), (#"{"mask":"/a\u0000b"}"#, "no zero byte"),
    ])
    func `an impossible layer is refused with the option's name`(options: String, words: String) throws {
        let error = try #require(throws: SkyError.self) {
            _ = try submission(#"{"kind":"scan","path":"/d/a.fits","options":\#(options)}"#)
        }
        #expect(error.message.contains(words), "\(error)")
    }

    @Test func `planes and colours of one file have separate results`() {
        func stem(_ layer: ImageLayer?) -> String {
            ImageReference(path: "/d/photo.fits.fz", hdu: nil, layer: layer).stem
        }
        #expect(stem(nil) == "photo" && stem(ImageLayer(plane: 2)) == "photo-plane2")
        #expect(stem(ImageLayer(plane: 2, bayer: BayerGrid(.rggb, .blue))) == "photo-plane2-B")
    }

    @Test(arguments: [
        ("", "the job is not JSON"), ("{", "the job is not JSON"), ("\u{0}", "the job is not JSON"),
        ("{\"kind\":\"simulate\"}x", "the job is not JSON"),
        ("[]", #"a job is an object of JSON, as {"kind": "simulate", "tasks": 20}"#),
        ("null", #"a job is an object of JSON, as {"kind": "simulate", "tasks": 20}"#),
        ("3", #"a job is an object of JSON, as {"kind": "simulate", "tasks": 20}"#),
        (
            #"{"kind":"scan","path":"/a.fits","options":{"filter":"/etc/a.conv"}}"#,
            "`options`: --filter: files cannot be named here"
        ),
        (
            #"{"kind":"scan","path":"/a.fits","options":{"columns":"@/etc/passwd"}}"#,
            "`options`: --columns: files cannot be named here"
        ),
        (#"{"kind":3}"#, "`kind` must be text in quotes"),
        (
            #"{"kind":"simulate","colour":"red"}"#,
            "there is no `colour` in a simulate job: it has kind, tasks, seconds, priority, retries, token"
        ),
        (
            #"{"kind":"simulate","\u001b[31m":1}"#,
            "there is no `?[31m` in a simulate job: it has kind, tasks, seconds, priority, retries, token"
        ),
        (#"{"kind":"simulate","tasks":1.5}"#, "`tasks` must be a whole number"),
        (#"{"kind":"simulate","tasks":"3"}"#, "`tasks` must be a whole number"),
        (#"{"kind":"simulate","tasks":true}"#, "`tasks` must be a whole number"),
        (#"{"kind":"simulate","tasks":[3]}"#, "`tasks` must be a whole number"),
        (#"{"kind":"simulate","tasks":0}"#, "`tasks` must lie between 1 and 10000000"),
        (#"{"kind":"simulate","tasks":10000001}"#, "`tasks` must lie between 1 and 10000000"),
        (#"{"kind":"simulate","tasks":1e30}"#, "`tasks` must lie between 1 and 10000000"),
        (#"{"kind":"simulate","tasks":9223372036854775808}"#, "`tasks` must lie between 1 and 10000000"),
        (#"{"kind":"simulate","seconds":"1"}"#, "`seconds` must be a number"),
        (#"{"kind":"simulate","seconds":-1}"#, "`seconds` must lie between 0 and 86400"),
        (#"{"kind":"simulate","seconds":1e300}"#, "`seconds` must lie between 0 and 86400"),
        (#"{"kind":"simulate","priority":1000}"#, "`priority` must lie between -100 and 100"),
        (#"{"kind":"simulate","priority":0.5}"#, "`priority` must be a whole number"),
        (#"{"kind":"simulate","retries":-1}"#, "`retries` must lie between 0 and 100"),
        (#"{"kind":"simulate","retries":{}}"#, "`retries` must be a whole number"),
        (#"{"kind":"simulate","token":7}"#, "`token` must be text in quotes"),
        (#"{"kind":"simulate","token":""}"#, "a token has 1 to 200 bytes, and no line breaks or control characters"),
        (#"{"kind":"simulate","token":"\n"}"#, "a token has 1 to 200 bytes, and no line breaks or control characters"),
        (
            #"{"kind":"simulate","token":"a\u009bb"}"#,
            "a token has 1 to 200 bytes, and no line breaks or control characters"
        ),
        (
            #"{"kind":"simulate","path":"/a"}"#,
            "there is no `path` in a simulate job: it has kind, tasks, seconds, priority, retries, token"
        ),
        (
            #"{"kind":"simulate","hdu":1}"#,
            "there is no `hdu` in a simulate job: it has kind, tasks, seconds, priority, retries, token"
        ),
        (
            #"{"kind":"simulate","options":{}}"#,
            "there is no `options` in a simulate job: it has kind, tasks, seconds, priority, retries, token"
        ),
        (#"{"kind":"scan"}"#, "`path` is missing: the absolute path of an image, as a node knows it"),
        (#"{"kind":"scan","path":7}"#, "`path` must be text in quotes"),
        (#"{"kind":"scan","path":""}"#, "`path` must be absolute: it begins with /, and is the path on the nodes"),
        (
            #"{"kind":"scan","path":"a.fits"}"#,
            "`path` must be absolute: it begins with /, and is the path on the nodes"
        ),
        (#"{"kind":"scan","path":"/a\u0000b"}"#, "`path` must have 4095 bytes at most, and no zero byte"),
        (
            #"{"kind":"scan","path":"/a","tasks":3}"#,
            "there is no `tasks` in a scan job: it has kind, path, hdu, options, priority, retries, token"
        ),
        (
            #"{"kind":"scan","path":"/a","seconds":3}"#,
            "there is no `seconds` in a scan job: it has kind, path, hdu, options, priority, retries, token"
        ),
        (#"{"kind":"scan","path":"/a","hdu":-1}"#, "`hdu` must lie between 0 and 9999"),
        (#"{"kind":"scan","path":"/a","hdu":"SCI"}"#, "`hdu` must be a whole number"),
        (#"{"kind":"scan","path":"/a","hdu":1,"options":{"hdu":2}}"#, "give `hdu` or `options.hdu`, not both"),
        (#"{"kind":"scan","path":"/a","options":[]}"#, #"`options` must be an object, as {"threshold": 2.5}"#),
        (
            #"{"kind":"scan","path":"/a","options":{"threshold":[1]}}"#,
            "`options.threshold` must be a number, or text in quotes"
        ),
        (
            #"{"kind":"scan","path":"/a","options":{"threshold":null}}"#,
            "`options.threshold` must be a number, or text in quotes"
        ),
        (#"{"kind":"scan","path":"/a","options":{"help":true}}"#, "`options.help` must be a number, or text in quotes"),
        (
            #"{"kind":"scan","path":"/a","options":{"threshold":"x\ny"}}"#,
            "`options.threshold` must be a number, not \"x y\""
        ),
        (
            #"{"kind":"scan","path":"/a","options":{"min-area":1.5}}"#,
            "`options.min-area` must be a whole number, not \"1.5\""
        ),
    ])
    func `a bad job is refused with the name of the wrong field`(text: String, message: String) throws {
        let failure = try #require(#expect(throws: SkyError.self) { try submission(text) })
        #expect(failure.kind == .badInput && failure.message == message)
    }

    @Test func `the document has each option that goes by itself, with the values that it takes`() throws {
        let text = try document()
        let indent = String(repeating: " ", count: 12)
        let lines = ScanKeys.schemas.map { indent + $0 + "\n" }.joined()
        #expect(text.contains(lines), "docs/openapi.yaml should have\n\(lines)")
    }

    @Test(arguments: ["help", "version", "Threshold", "output", "", "-threshold", "a b", "preset=x", "cluster-key"])
    func `unknown options of a scan are refused by name`(name: String) throws {
        let text = #"{"kind":"scan","path":"/a","options":{"\#(name)":"/etc/passwd"}}"#
        let failure = try #require(#expect(throws: SkyError.self) { try submission(text) })
        #expect(failure.message.hasPrefix("`options`: there is no `\(name)`"), "\(failure.message)")
    }

    @Test(arguments: [
        #"{"threshold":-1}"#, #"{"threshold":"nan"}"#, #"{"threshold":"inf"}"#, #"{"min-area":0}"#,
        #"{"filter":"none","fwhm":2}"#, #"{"mesh":-5}"#, #"{"gain":"-inf"}"#, #"{"sector":1e15}"#, #"{"fwhm":1e300}"#,
        #"{"aperture":"1e308,2"}"#, #"{"margin":-1}"#, #"{"saturation":"nan"}"#, #"{"zero-point":"nan"}"#,
    ])
    func `bad values of options are refused in one line`(options: String) throws {
        let text = #"{"kind":"scan","path":"/a","options":\#(options)}"#
        let failure = try #require(#expect(throws: SkyError.self) { try submission(text) })
        #expect(failure.kind == .badInput && failure.message.hasPrefix("`options"), "\(failure.message)")
        #expect(!failure.message.contains("\n"))
    }

    @Test func `null counts as absent, and a whole number may have a decimal point`() throws {
        let job = try submission(
            #"{"kind":"simulate","tasks":5.0,"seconds":null,"token":null,"retries":null}"#)
        guard let request = job.request.kind.rehearsal else {
            Issue.record("no simulation")
            return
        }
        #expect(request.tasks == 5 && request.duration == .seconds(1) && job.token == nil)
    }

    @Test func `the document has the fields of each kind`() throws {
        let text = try document()
        let indent = String(repeating: " ", count: 8)
        for fields in [SimulateRequest.fields, SkyRequest.fields, Submission.fields] {
            for line in fields.compactMap(\.schema) { #expect(text.contains(indent + line + "\n"), "\(line)") }
        }
        #expect(JobKinds.words.prefix(2) == ["simulate", "scan"])
    }

    private func document() throws -> String {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../docs/openapi.yaml").standardized
        return try String(contentsOf: file, encoding: .utf8)
    }

    @Test(arguments: [
        ("{}", "`kind` is missing: simulate or scan", ""),
        (#"{"kind":null}"#, "`kind` is missing: simulate or scan", ""),
        (#"{"kind":"cook"}"#, "`kind` must be simulate or scan", ", not cook"),
        (#"{"kind":"a\nb"}"#, "`kind` must be simulate or scan", ", not a b"),
        (#"{"kind":"sky"}"#, "`kind` must be simulate or scan", ", not sky"),
    ])
    func `a job without a kind that there is, is refused with those that there are`(
        text: String, start: String, end: String
    ) throws {
        // Another test of the same process may have added kinds.
        let message = try #require(#expect(throws: SkyError.self) { try submission(text) }).message
        #expect(message.hasPrefix(start) && message.hasSuffix(end), "\(message)")
    }

    @Test func `deeply nested jobs are refused with a short message`() throws {
        for text in [
            String(repeating: "[", count: 60_000), String(repeating: #"{"a":"#, count: 10_000),
            #"{"kind":"scan","path":"/a","options":"# + String(repeating: "[", count: 100)
                + String(repeating: "]", count: 100) + "}",
        ] {
            let failure = try #require(#expect(throws: SkyError.self) { try submission(text) })
            #expect(failure.kind == .badInput && failure.message.utf8.count < 200)
        }
    }
}
