import Sky
import SkyCore

/// The first job of a scan command, which a node inside the command begins while the command still searches for other nodes; and
/// the content of its file, which is read meanwhile.
struct FirstJob: Sendable {
    private let submission: Submission
    private let reading: ContentReading
    private let workers: Int

    /// A smaller file has one sector of 1024 x 1024 pixels at most, unless it is compressed. Its only worker starts sooner alone.
    private static let oneSector = 2 << 20

    /// - Returns: `nil` where the first job is that of the reference.
    init?(_ plan: ScanPlan) {
        guard plan.reference == nil, let item = plan.items.first else { return nil }
        submission = Submission(item.request, token: item.token)
        reading = ContentReading(of: item.path)
        let isSmall =
            plan.items.count == 1 && (try? FileStamp(of: item.path)).map { $0.size < FirstJob.oneSector } ?? false
        workers = isSmall ? 1 : 2
    }

    var earlyWork: EmbeddedNode.EarlyWork {
        EmbeddedNode.EarlyWork(submission: submission, workers: workers) { [reading] in await reading.begin() }
    }

    /// The content of an image's file, if it is that of this job; `nil` for any other.
    func reading(of item: ScanItem) -> ContentReading? { item.token == submission.token ? reading : nil }
}
