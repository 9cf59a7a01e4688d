@testable import SkyCore

/// The SHA-256 of files.
enum ChecksumKind: JobKind {
    static var request: any KindRequest.Type { ChecksumRequest.self }
    static var work: [any KindWork.Type] { [ChecksumWork.self] }
    static var results: [any KindResult.Type] { [ChecksumResult.self] }
    static var events: [any KindEvent.Type] { [ChecksumEvent.self] }
    static var pages: [any ResultsPage.Type] { [ChecksumPage.self] }
}
