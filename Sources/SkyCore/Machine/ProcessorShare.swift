import CLinux
import Glibc
import Transport

/// How many of the machine's processors this process may use.
package struct ProcessorShare: Hashable, Sendable {
    /// The processors on which it may run (sched_setaffinity(2)). The kernel keeps them among those of the control group (cpuset).
    var allowed: Int
    /// For how many processors' time it has a quota; `nil` where it has none.
    var quota: Double?

    /// - Parameters:
    ///   - allowed: the number of processors on which the process may run.
    ///   - groups: the control groups of the process.
    ///   - read: reads a file; `nil` where there is none.
    init(allowed: Int, groups: ControlGroupPaths, read: (String) -> String? = KernelText.of) {
        self.allowed = max(1, allowed)
        quota = groups.folders(of: "cpu").compactMap { folder in
            if let text = read(folder + "/cpu.max") { return ProcessorShare.quota(text) }
            guard let time = read(folder + "/cpu.cfs_quota_us"), let period = read(folder + "/cpu.cfs_period_us") else {
                return nil
            }
            return ProcessorShare.quota(time + " " + period)
        }.min()
    }

    /// What this process may use now.
    package static var ofThisProcess: ProcessorShare {
        ProcessorShare(allowed: allowedProcessors ?? onlineProcessors, groups: .ofThisProcess)
    }

    /// The whole processors that this share comes to. A quota counts as the nearest whole number: of one and a half processors'
    /// time, one busy thread would leave a third, and two are each held up for a quarter of the time.
    package var count: Int {
        guard let quota, quota < Double(allowed) else { return allowed }
        return max(1, min(allowed, Int(quota.rounded())))
    }

    /// In words why this is less than the machine has; `nil` where it is not.
    package func limit(ofMachine processors: Int = onlineProcessors) -> String? {
        guard count < processors else { return nil }
        let byQuota = quota.map { quota in
            let hundredths = Int((quota * 100).rounded())
            return "its control group has a quota of \(hundredths) % of one processor"
        }
        return count < allowed ? byQuota : "its affinity or its control group leaves it no more"
    }

    /// A time and the period in which it may be used: `50000 100000`. There is no quota where the time is `max` or negative.
    private static func quota(_ text: String) -> Double? {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let time = Double(words[0]), let period = Double(words[1]), time > 0, period > 0 else {
            return nil
        }
        return time / period
    }

    /// The processors that the machine has switched on.
    package static var onlineProcessors: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// The processors on which this thread, as all threads that nobody has moved, may run; `nil` where the kernel does not say.
    private static var allowedProcessors: Int? {
        // The kernel refuses a mask that is too short for the processors that it can manage.
        for bytes in [128, 1024, 8192, 65_536] {
            var mask = [UInt8](repeating: 0, count: bytes)
            if linux_affinity(&mask, bytes) == 0 { return mask.reduce(0) { $0 + $1.nonzeroBitCount } }
        }
        return nil
    }
}
