import Base
import Fixtures
import Testing

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

@Suite struct SubmissionTests {
    private func fault(_ token: String?) -> SkyError? {
        let job = JobRequest(.simulate(SimulateRequest(tasks: 1, duration: .zero)))
        return SkyError.thrown { () throws(SkyError) in try Submission(job, token: token).validate() }
    }

    @Test(arguments: [nil, "a", "night 12/3", "M31_été", String(repeating: "x", count: 200)])
    func `a token consists of characters that a person can type`(token: String?) {
        #expect(fault(token) == nil)
    }

    @Test(arguments: ["", "\n", "a\u{0}", "a\tb", "\u{9B}31m", "a\u{2028}b", String(repeating: "é", count: 101)])
    func `any other token is refused`(token: String) {
        #expect(fault(token)?.kind == .badInput)
    }

    @Test func `a submission with an invalid request is refused`() {
        let job = JobRequest(.simulate(SimulateRequest(tasks: 0, duration: .zero)))
        #expect(throws: SkyError.self) { try Submission(job, token: "a").validate() }
    }
}
