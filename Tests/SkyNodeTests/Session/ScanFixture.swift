import ArgumentParser
import Base
import Sky
import Testing

@testable import SkyCore
@testable import SkyNode

/// Plans of scans as a command line makes them, of images that need not be there, and what comes of their jobs.
enum ScanFixture {
    /// Which group of the options of a scan takes which of them.
    private static let groups: [(names: Set<String>, parse: @Sendable ([String], inout ScanOptions) throws -> Void)] = [
        (["--plane", "--bayer"], { $1.layers = try LayerOptions.parse($0) }),
        (["--weight", "--rms", "--variance", "--mask"], { $1.companions = try CompanionOptions.parse($0) }),
        (["-o", "--format-catalogue", "--check-image"], { $1.output = try OutputOptions.parse($0) }),
        (
            ["--no-merge", "--no-picture", "--keep-partial", "--truth"],
            { $1.files = try ScanFileOptions.parse($0) }
        ),
        (["--threshold"], { $1.detection = try DetectionOptions.parse($0) }),
        (
            ["--reference", "--coordinate-error", "--inject-changes", "--difference"],
            { $1.comparison = try ComparisonOptions.parse($0) }
        ),
        (["--detach", "--no-cache", "--fail-sector"], { $1.job = try ScanJobOptions.parse($0) }),
        (
            ["--priority", "--retries", "--allow-failures", "--time-limit", "--use-node"],
            { $1.flags = try JobFlags.parse($0) }
        ),
        (["--format", "--alone", "--node"], { $1.cluster = try ClusterOptions.parse($0) }),
    ]

    /// All options as they are where nothing is said.
    private static let usual = Result { try ScanOptions.parse([]) }

    /// What a command line asks for.
    ///
    /// Each group is parsed by itself: a debug build of the parser takes a second for all of them together.
    static func options(_ line: String = "") throws -> ScanOptions {
        var options = try usual.get()
        var words: [Int: [String]] = [:]
        var group: Int?
        for word in line.split(separator: " ").map(String.init) {
            if word.hasPrefix("-"), word != "-" {
                let name = word.split(separator: "=").first.map(String.init) ?? word
                let place = groups.firstIndex { $0.names.contains(name) }
                group = try #require(place, "no group has \(name)") as Int
            }
            if let group { words[group, default: []].append(word) } else { options.images.append(word) }
        }
        for (group, words) in words { try groups[group].parse(words, &options) }
        return options
    }

    /// - Parameters:
    ///   - line: options of `skynode scan`.
    ///   - reference: what the images are compared with; `nil` for nothing.
    static func plan(
        _ line: String = "", images: [String] = ["/d/a.fits"], reference: String? = nil, refusals: Int = 0,
        injection: InjectionDemand? = nil
    ) throws -> ScanPlan {
        let options = try options(line)
        var settings = ScanPlan.Settings(
            configuration: try options.detection.settings.configuration(reading: nil),
            output: try options.output.place { _ in false })
        settings.layers = try options.layers.layers()
        settings.injection = injection
        var plan = try ScanPlan(options, settings, reference: reference.map(source))
        for image in images { try plan.add(source(image)) }
        for number in 0..<refusals { plan.refuse(SkyError(.badInput, "/d/bad\(number).fits: no such file")) }
        return plan
    }

    static func source(_ name: String) -> ScanPlan.Source {
        ScanPlan.Source(name: name, image: ImageReference(path: name.hasPrefix("/") ? name : "/d/" + name, hdu: nil))
    }

    static func rules(
        _ plan: ScanPlan, format: OutputFormat = .text, detail: ScanDetail = .summary, keepsPartial: Bool = false
    ) -> ImageProgress.Rules {
        ImageProgress.Rules(plan: plan, format: format, detail: detail, keepsPartial: keepsPartial)
    }

    static func report(_ state: JobReport.State = .done, reason: String? = nil, failed: Int = 0) -> JobReport {
        JobReport(
            state: state, reason: reason, scheduled: 5, completed: 5 - failed, failed: failed, retries: 0,
            duration: .seconds(1), nodes: [])
    }

    static func info(hdu: Int = 0, images: [Int]? = nil) -> ImageInfo {
        var info = ImageInfo(width: 64, height: 64, bitpix: -32, hdu: hdu, hasWCS: false)
        info.images = images
        return info
    }
}
