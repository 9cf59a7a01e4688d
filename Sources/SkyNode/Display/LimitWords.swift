import Transport

/// The limits of a person, for people.
enum LimitWords {
    /// "at most 4 slots, 10 jobs at once, 20.0 GiB stored"; `nil` where nothing is limited.
    static func of(_ limits: PersonalLimits?) -> String? {
        guard let limits, !limits.isEmpty else { return nil }
        let parts = [
            limits.slots.map { $0 == 1 ? "1 slot" : "\($0) slots" },
            limits.jobs.map { $0 == 1 ? "1 job at once" : "\($0) jobs at once" },
            limits.bytes.map { "\(SizeArgument.text($0)) stored" },
        ]
        return "at most \(parts.compactMap(\.self).joined(separator: ", "))"
    }
}
