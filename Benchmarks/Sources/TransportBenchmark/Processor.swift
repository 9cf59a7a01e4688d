import Foundation

/// The processor that is measured on: a ratio of one model says little of that of another.
enum Processor {
    /// The model's name and how many processors this process may use.
    static var description: String {
        let text = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        return "\(model(in: text) ?? "unknown processor"), \(ProcessInfo.processInfo.activeProcessorCount) of them"
    }

    /// The first `model name` of /proc/cpuinfo (proc_cpuinfo(5)); `nil` where there is none, as on ARM.
    static func model(in cpuinfo: String) -> String? {
        for line in cpuinfo.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces) == "model name" else { continue }
            let name = parts[1].trimmingCharacters(in: .whitespaces)
            return name.isEmpty ? nil : name
        }
        return nil
    }
}
