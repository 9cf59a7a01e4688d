import Foundation
import Glibc
import Transport

/// What this process takes of the machine.
struct ProcessUsage {
    /// The processor time of all threads, in seconds.
    let processor: Double
    let residentBytes: Double
    let descriptors: Double
    let descriptorLimit: Double

    /// Reads `/proc/self`; a value that cannot be read is 0.
    init() {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let seconds = { (time: timeval) in Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        processor = seconds(usage.ru_utime) + seconds(usage.ru_stime)
        // The fields are numbers of pages: size, resident, shared and others (proc(5)).
        let pages = KernelText.of("/proc/self/statm")?.split(separator: " ")
        residentBytes = (pages?.dropFirst().first.flatMap { Double($0) } ?? 0) * Double(sysconf(Int32(_SC_PAGESIZE)))
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        descriptorLimit = Double(limit.rlim_cur)
        descriptors = Double((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0)
    }
}
