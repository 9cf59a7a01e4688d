import Base
import Glibc

@testable import SkyCore
@testable import SkyJobs

/// Files whose SHA-256 is wanted.
struct ChecksumRequest: KindRequest {
    var paths: [String]
    /// The file whose first attempt fails, as a rehearsal; `nil` for none.
    var failFile: Int?

    static var name: String { "checksum" }

    var title: String { paths.count == 1 ? paths[0] : "\(paths.count) files" }

    func validate() throws(SkyError) {
        try SkyError.unless((1...100_000).contains(paths.count), "a job has 1 to 100000 files")
        try SkyError.unless(
            paths.allSatisfy { $0.hasPrefix("/") && $0.utf8.count <= 4096 && !$0.utf8.contains(0) },
            "a file is named by its absolute path")
        try SkyError.unless(failFile.map(paths.indices.contains) ?? true, "there is no such file to fail")
    }

    // Results are put together here: those of another version are not believed, and its nodes get no tasks.
    func scheduling(_ options: JobOptions) -> JobOptions {
        var options = options
        options.needsAlike = true
        return options
    }

    func plan() -> any JobPlan { ChecksumPlan(request: self) }
}

/// As people and programs ask for it: `{"kind": "checksum", "paths": ["/data/m13.fits"]}`.
extension ChecksumRequest: JSONRequest {
    static var word: String { name }

    static var fields: [RequestField] {
        [RequestField("paths", .texts, "the absolute paths of files", isRequired: true)]
    }

    init(_ form: RequestForm) { self.init(paths: form.texts("paths") ?? []) }
}
