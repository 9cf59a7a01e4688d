import Base
package import Sky
package import SkyCore
package import Transport

/// The comparison of two images of the same sky.
enum CompareKind: JobKind {
    static var request: any KindRequest.Type { CompareRequest.self }
    static var work: [any KindWork.Type] { [CompareWork.self] }
    static var results: [any KindResult.Type] { [CompareResult.self] }
    static var pages: [any ResultsPage.Type] { [ComparedPage.self] }
    static var methods: [Method] { MethodsOfBefore.ofComparisons }
}

extension CompareRequest: KindRequest {
    package static var name: String { "compare" }

    package var title: String { "\(new.reference.path) against \(old.reference.path)" }

    package func scheduling(_ options: JobOptions) -> JobOptions { options.ofImages }

    package func plan() -> any JobPlan { ComparePlan(self) }

    package var inputs: Set<[UInt8]> { new.reference.inputs.union(old.reference.inputs) }
}

extension JobRequest.Kind {
    package static func compare(_ request: CompareRequest) -> Self { Self(request) }

    /// The request of the comparison; `nil` for a job of another kind.
    package var comparison: CompareRequest? { request as? CompareRequest }
}

/// The work of a task of a comparison.
package enum CompareWork: KindWork, WorkerWork {
    /// Compare two images in one place, or draw what differs.
    case compare(CompareRequest.Image, CompareRequest.Image, CompareRequest.Work)

    package static var cases: [String] { ["compare"] }

    package func validate() throws(InvalidMessage) {
        try InvalidMessage.of { () throws(SkyError) in
            switch self {
            case .compare(let new, let old, let work):
                try new.validate()
                try old.validate()
                try work.validate()
            }
        }
    }

    package var byteCount: Int {
        switch self {
        case .compare(let new, let old, _): 4096 + new.background.byteCount + old.background.byteCount
        }
    }

    package var place: WorkPlace { .worker(self) }

    package func perform(with tools: WorkerTools) throws -> TaskResult {
        switch self {
        case .compare(let new, let old, let work):
            let engine = tools.engine
            return try engine.with((new.reference.contents + old.reference.contents)[...]) {
                .compared(try engine.compare(new, old, work))
            }
        }
    }
}

extension ScanTask.Work {
    package static func compare(
        _ new: CompareRequest.Image, _ old: CompareRequest.Image, _ work: CompareRequest.Work
    ) -> Self { Self(CompareWork.compare(new, old, work)) }
}

/// The result of a task of a comparison.
package enum CompareResult: KindResult {
    case compared(ComparedPart)

    package static var cases: [String] { ["compared"] }
}

extension TaskResult {
    package static func compared(_ part: ComparedPart) -> Self { Self(CompareResult.compared(part)) }
}
