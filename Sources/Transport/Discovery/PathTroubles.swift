/// Which paths cannot be opened, and whether that is worth a log line, as a value: each path once, until it has been open.
struct PathTroubles {
    /// How long an IPv6 address may be refused without a log line. A new address cannot be used before the kernel has asked the
    /// network whether another machine has it (RFC 4862, 5.4). That takes a second or two, at every start of a machine.
    static let patience = Duration.seconds(5)

    private struct Trouble {
        var began: Duration
        var isReported = false
    }

    private var troubles: [BeaconPath: Trouble] = [:]
    private var hasReportedLimit = false

    /// Notes that the kernel lets a socket join no more groups.
    ///
    /// - Returns: whether to log it now: once, for however many paths.
    mutating func reachedLimit() -> Bool {
        defer { hasReportedLimit = true }
        return !hasReportedLimit
    }

    /// - Parameter isAbsent: whether the kernel says that there is no such address.
    /// - Returns: whether to log it now.
    mutating func failed(_ path: BeaconPath, isAbsent: Bool, now: Duration) -> Bool {
        var trouble = troubles[path] ?? Trouble(began: now)
        let isTentative = isAbsent && !path.address.isIPv4 && now - trouble.began < PathTroubles.patience
        let isDue = !trouble.isReported && !isTentative
        if isDue { trouble.isReported = true }
        troubles[path] = trouble
        return isDue
    }

    /// Notes that a path is open, or gone.
    mutating func opened(_ path: BeaconPath) { troubles[path] = nil }
}
