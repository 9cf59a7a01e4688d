import Base
import Foundation
import NIOCore
import Sky
import SkyCore
import SkyJobs
import Transport

/// A job as a client of the API submits it. Everything is validated here, with a complaint that names the field.
struct JobBody {
    enum Kind: String {
        case simulate, scan
    }

    var kind: Kind
    /// Of a simulation: how many tasks, and how long each takes.
    var tasks: Int?
    var seconds: Double?
    /// Of a scan: the file as the nodes know it, and its HDU.
    var path: String?
    var hdu: Int?
    /// Of a scan: the options of `skynode scan` that decide the catalogue, without the dashes, each as the command line has it.
    var options: [String: String]?
    var priority: Int?
    var retries: Int?
    var token: String?

    /// Longest body, in bytes.
    static let sizeLimit = 64 << 10
    /// Longest path, in bytes (PATH_MAX of Linux, with the zero byte).
    static let pathLimit = 4095

    private static let fields = [
        "kind", "tasks", "seconds", "path", "hdu", "options", "priority", "retries", "token",
    ]

    /// - Throws: `APIFailure` that says what is wrong.
    init(_ buffer: ByteBuffer) throws {
        let value: JSONValue
        do {
            value = try JSONValue(buffer)
        } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
            throw APIFailure(.badRequest, "the body is not JSON")
        } catch {
            throw APIFailure(.badRequest, "the body holds values that cannot be read")
        }
        guard case .object(let object) = value else {
            throw APIFailure(.badRequest, #"a job is an object of JSON, as {"kind": "simulate", "tasks": 20}"#)
        }
        if let unknown = object.keys.filter({ !JobBody.fields.contains($0) }).min() {
            throw APIFailure(.badRequest, "there is no `\(JobBody.shown(unknown))` in a job")
        }
        let fields = JobFields(object)
        guard let word = try fields.text("kind") else {
            throw APIFailure(.badRequest, "`kind` is missing: simulate or scan")
        }
        guard let kind = Kind(rawValue: word) else {
            throw APIFailure(.badRequest, "`kind` must be simulate or scan, not \(JobBody.shown(word))")
        }
        self.kind = kind
        tasks = try fields.whole("tasks", 1...SimulateRequest.taskLimit)
        seconds = try fields.number("seconds", 0...86_400)
        path = try fields.text("path")
        hdu = try fields.whole("hdu", 0...9999)
        options = try fields.options("options")
        priority = try fields.whole("priority", -100...100)
        retries = try fields.whole("retries", 0...100)
        token = try fields.text("token")
    }

    static func shown(_ text: String) -> String { PrintableText.of(String(text.prefix(80))) }

    /// - Throws: what is wrong with it, in words for the client.
    func submission() throws -> Submission {
        var job: JobRequest
        switch kind {
        case .simulate: job = try simulation()
        case .scan: job = try scan()
        }
        if let priority { job.options.priority = priority }
        if let retries { job.options.retries = retries }
        let submission = Submission(job, token: token)
        try submission.validate()
        return submission
    }

    private func simulation() throws -> JobRequest {
        guard path == nil, hdu == nil, options == nil else {
            throw APIFailure(.badRequest, "`path`, `hdu` and `options` are a scan's")
        }
        let seconds = seconds ?? 1
        var job = JobRequest(
            .simulate(SimulateRequest(tasks: tasks ?? 20, duration: .milliseconds(Int64((seconds * 1000).rounded())))))
        job.taskTimeLimit = min(max(.seconds(600), .seconds(2 * seconds)), JobRequest.longestTimeLimit)
        return job
    }

    private func scan() throws -> JobRequest {
        guard tasks == nil, seconds == nil else {
            throw APIFailure(.badRequest, "`tasks` and `seconds` are a simulation's")
        }
        guard let path else {
            throw APIFailure(.badRequest, "`path` is missing: the absolute path of an image, as a node knows it")
        }
        guard path.hasPrefix("/") else {
            throw APIFailure(.badRequest, "`path` must be absolute: it begins with /, and is the path on the nodes")
        }
        guard path.utf8.count <= JobBody.pathLimit, !path.utf8.contains(0) else {
            throw APIFailure(.badRequest, "`path` must have \(JobBody.pathLimit) bytes at most, and no zero byte")
        }
        guard hdu == nil || options?["hdu"] == nil else {
            throw APIFailure(.badRequest, "give `hdu` or `options.hdu`, not both")
        }
        var configuration: ScanConfiguration
        do {
            configuration = try settings().configuration(reading: nil)
        } catch let error as SkyError {
            throw APIFailure(.badRequest, "`options`: \(error.message)")
        }
        configuration.hdu = hdu ?? configuration.hdu
        let layers = try JobLayers((options ?? [:]).filter { JobLayers.names.contains($0.key) }, path: path)
        var image = ImageReference(path: path, hdu: configuration.hdu, layer: layers.layer)
        image.companions = layers.companions
        return JobRequest(.sky(SkyRequest(image: image, configuration: configuration)))
    }

    private func settings() throws -> ScanSettings {
        let options = (options ?? [:]).filter { !JobLayers.names.contains($0.key) }
        for (name, value) in options.sorted(by: { $0.key < $1.key }) {
            guard let key = ScanKeys.named(name) else { throw JobBody.unknownOption(name) }
            guard key.takes(value) else {
                throw APIFailure(
                    .badRequest, "`options.\(name)` must be \(key.formWords), not \"\(JobBody.shown(value))\"")
            }
        }
        return ScanSettings(options)
    }

    private static func unknownOption(_ name: String) -> APIFailure {
        APIFailure(.badRequest, "`options`: there is no `\(shown(name))`; skynode scan --help says what there is")
    }
}
