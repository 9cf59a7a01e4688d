package import Base
package import Transport

/// One submission: what is to be done, and how often to try.
///
/// Journals keep it as JSON, and later versions read it, too. Therefore a property that is added here must be optional.
package struct JobRequest: Codable, Sendable {
    /// The request of a job, of any kind.
    package struct Kind: Sendable {
        package var request: any KindRequest

        package init(_ request: some KindRequest) { self.request = request }
    }

    package var kind: Kind
    /// The longest time of one attempt.
    package var taskTimeLimit = Duration.seconds(600)
    package var options = JobOptions()
    /// The longest time from submission to end; `nil` for no limit.
    package var deadline: Duration?
    /// How many tasks may fail before the job is given up with the next one; `nil` if it goes on whatever fails.
    package var allowedFailures: Int?
    /// The name of the person who submitted it, as their credential says. The coordinator sets it, whatever the submission says; `nil`
    /// for whoever has the cluster key.
    package var submitter: String?
    /// The limits of that person in the credential that submitted it, set in the same way; `nil` where there are none.
    package var limits: PersonalLimits?

    /// The longest time limit that is accepted: a day.
    package static let longestTimeLimit = Duration.seconds(86_400)

    static let longestDeadline = Duration.seconds(365 * 86_400)
    static let nodeLimit = 1000
    /// The most bytes of a node's name or id in a request: longer ones name no node.
    static let nodeNameLimit = 255

    package init(_ kind: Kind) {
        self.kind = kind
        if let limit = kind.request.taskTimeLimit { taskTimeLimit = limit }
    }

    /// The name that people see: the image, or what is simulated.
    package var title: String { kind.request.title }

    /// Who submitted it, as the scheduler needs to know it.
    var jobSubmitter: JobSubmitter { JobSubmitter(submitter, slots: limits?.slots) }

    /// The options, after the kind of job has adjusted them.
    var schedulingOptions: JobOptions { kind.request.scheduling(options) }

    /// - Throws: `SkyError` of kind `badInput`, in words for the person who submitted the job.
    package func validate() throws(SkyError) {
        if taskTimeLimit <= .zero || taskTimeLimit > JobRequest.longestTimeLimit {
            throw SkyError(.badInput, "the time limit of a task must lie between 0 and 86400 seconds")
        }
        if let deadline, deadline <= .zero || deadline > JobRequest.longestDeadline {
            throw SkyError(.badInput, "the deadline of a job must lie between 0 and 365 days")
        }
        if let allowedFailures, allowedFailures < 0 {
            throw SkyError(.badInput, "--allow-failures takes a number from 0")
        }
        if !(-100...100).contains(options.priority) {
            throw SkyError(.badInput, "the priority of a job must lie between -100 and 100")
        }
        if let retries = options.retries, !(0...100).contains(retries) {
            throw SkyError(.badInput, "--retries takes a number from 0 to 100")
        }
        if options.use.count + options.avoid.count > JobRequest.nodeLimit {
            throw SkyError(.badInput, "a job names at most \(JobRequest.nodeLimit) nodes to use or avoid")
        }
        if options.use.union(options.avoid).contains(where: { $0.utf8.count > JobRequest.nodeNameLimit }) {
            throw SkyError(.badInput, "the name of a node has at most \(JobRequest.nodeNameLimit) bytes")
        }
        try kind.request.validate()
    }
}

extension JobRequest.Kind: Codable {
    package init(from decoder: any Decoder) throws { request = try JobKinds.request(from: decoder) }

    package func encode(to encoder: any Encoder) throws {
        func encode<Request: KindRequest>(_ request: Request) throws {
            var container = encoder.container(keyedBy: CaseName.self)
            var values = container.nestedContainer(keyedBy: CaseName.self, forKey: CaseName(Request.name))
            try values.encode(request, forKey: .value)
        }
        try encode(request)
    }
}
