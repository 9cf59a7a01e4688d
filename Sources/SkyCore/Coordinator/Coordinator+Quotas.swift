import Transport

// What people with credentials may use of this coordinator, beside what they use.

extension Coordinator {
    /// The name of the user who calls, who has to do with their own jobs only; `nil` where it is anybody else.
    var callingUser: String? { CallOrigin.person.flatMap { $0.role == .user ? $0.name : nil } }

    /// The limits of whoever calls, for a job that they submit; `nil` where they have none.
    var callerLimits: PersonalLimits? { CallOrigin.person.flatMap { $0.limits.isEmpty ? nil : $0.limits } }

    /// What the jobs of a person with limits take at the coordinators that this node has taken over. They count as if they had been
    /// submitted here.
    func usageElsewhere(by request: JobRequest) async -> PersonUsage? {
        guard let copies, let person = request.submitter, request.limits != nil else { return nil }
        return await copies.usageHere(of: person, but: id.name)
    }

    /// What each person's jobs take here; for a person who is no operator, what theirs do.
    var usageByPeople: [PersonUsage]? {
        let caller = callingUser
        let people = core.jobs.quotas.usages.filter { caller == nil || caller == $0.name }
        return people.isEmpty ? nil : people
    }
}
