import ArgumentParser
import Foundation
import NIOCore
import SkyCore
import Transport

/// A job as a client of the API submits it.
struct JobBody: Decodable {
    enum Kind: String, Decodable {
        case simulate, scan
    }

    /// A value of an option: `2.5`, `"sensitive"`.
    enum Value: Decodable {
        case number(Double), text(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }
    }

    var kind: Kind
    /// Of a simulation: how many, and how long each takes.
    var tasks: Int?
    var seconds: Double?
    /// Of a scan: the file as the nodes know it, and its HDU; what `skynode scan` takes to decide the catalogue, without the dashes.
    var path: String?
    var hdu: Int?
    var options: [String: Value]?
    var priority: Int?
    var retries: Int?
    var token: String?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case kind, tasks, seconds, path, hdu, options, priority, retries, token
    }

    /// Longest body, in bytes.
    static let sizeLimit = 64 << 10

    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int? = nil
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// - Throws: `APIFailure` that says what is wrong.
    init(_ buffer: ByteBuffer) throws {
        do {
            self = try JSONDecoder().decode(JobBody.self, from: Data(buffer.readableBytesView))
        } catch let failure as APIFailure {
            throw failure
        } catch DecodingError.keyNotFound(let key, _) {
            throw APIFailure(.badRequest, "`\(key.stringValue)` is missing")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
            throw APIFailure(.badRequest, "`\(JobBody.place(context))` has a value of the wrong kind")
        } catch DecodingError.dataCorrupted(let context) where !context.codingPath.isEmpty {
            throw APIFailure(.badRequest, "`\(JobBody.place(context))` has a value that there is not")
        } catch {
            throw APIFailure(.badRequest, "the body is not JSON")
        }
    }

    init(from decoder: any Decoder) throws {
        let known = Set(CodingKeys.allCases.map(\.stringValue))
        for key in try decoder.container(keyedBy: Key.self).allKeys where !known.contains(key.stringValue) {
            throw APIFailure(
                .badRequest, "there is no `\(PrintableText.of(String(key.stringValue.prefix(80))))` in a job")
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        kind = try container.decode(Kind.self, forKey: .kind)
        tasks = try container.decodeIfPresent(Int.self, forKey: .tasks)
        seconds = try container.decodeIfPresent(Double.self, forKey: .seconds)
        path = try container.decodeIfPresent(String.self, forKey: .path)
        hdu = try container.decodeIfPresent(Int.self, forKey: .hdu)
        options = try container.decodeIfPresent([String: Value].self, forKey: .options)
        priority = try container.decodeIfPresent(Int.self, forKey: .priority)
        retries = try container.decodeIfPresent(Int.self, forKey: .retries)
        token = try container.decodeIfPresent(String.self, forKey: .token)
    }

    private static func place(_ context: DecodingError.Context) -> String {
        PrintableText.of(context.codingPath.map(\.stringValue).joined(separator: "."))
    }

    /// - Throws: what is wrong with it, in words for the client.
    func submission() throws -> Submission {
        var job: JobRequest
        switch kind {
        case .simulate: job = try simulation()
        case .scan: job = try scan()
        }
        if let priority { job.options.priority = priority }
        if let retries { job.options.retries = retries }
        try job.validate()
        return Submission(job, token: token)
    }

    private func simulation() throws -> JobRequest {
        guard path == nil, hdu == nil, options == nil else {
            throw APIFailure(.badRequest, "`path`, `hdu` and `options` are a scan's")
        }
        let seconds = seconds ?? 1
        guard (0...86_400).contains(seconds) else {
            throw APIFailure(.badRequest, "`seconds` must lie between 0 and 86400")
        }
        var job = JobRequest(
            .simulate(SimulateRequest(tasks: tasks ?? 20, duration: .milliseconds(Int64((seconds * 1000).rounded())))))
        job.taskTimeLimit = min(max(.seconds(600), .seconds(2 * seconds)), JobRequest.longestTimeLimit)
        return job
    }

    private func scan() throws -> JobRequest {
        guard tasks == nil, seconds == nil else {
            throw APIFailure(.badRequest, "`tasks` and `seconds` are a simulation's")
        }
        guard let path, path.hasPrefix("/"), path.utf8.count < 4096, !path.utf8.contains(0) else {
            throw APIFailure(.badRequest, "`path` is to be the absolute path of an image, as a node knows it")
        }
        if let hdu, !(0...100_000).contains(hdu) { throw APIFailure(.badRequest, "`hdu` counts from 0") }
        let detection: DetectionOptions
        do {
            detection = try DetectionOptions.parse(try arguments())
        } catch let failure as APIFailure {
            throw failure
        } catch {
            let message = DetectionOptions.message(for: error).split(separator: "\n").first.map(String.init)
            throw APIFailure(.badRequest, "`options`: \(PrintableText.of(message ?? "not possible"))")
        }
        var configuration = try detection.configuration()
        configuration.hdu = hdu ?? configuration.hdu
        let image = ImageReference(path: path, hdu: configuration.hdu)
        return JobRequest(.sky(SkyRequest(image: image, configuration: configuration)))
    }

    private func arguments() throws -> [String] {
        try (options ?? [:]).sorted { $0.key < $1.key }.flatMap { name, value -> [String] in
            guard !name.isEmpty, name.utf8.count < 64, name.allSatisfy({ $0.isLowercase && $0.isASCII || $0 == "-" })
            else {
                throw APIFailure(.badRequest, "`options`: there is no `\(PrintableText.of(String(name.prefix(80))))`")
            }
            switch value {
            case .text(let text): return ["--\(name)=\(text)"]
            case .number(let number):
                return [
                    "--\(name)=\(number.rounded() == number && abs(number) < 1e15 ? "\(Int(number))" : "\(number)")"
                ]
            }
        }
    }
}
