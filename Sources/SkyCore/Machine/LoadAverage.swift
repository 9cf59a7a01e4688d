import Glibc

/// How busy this machine is.
enum LoadAverage {
    /// Processes that run or want to, averaged over a minute; `nil` where the system does not tell.
    static var lastMinute: Double? {
        var loads = [0.0]
        return getloadavg(&loads, 1) == 1 ? loads[0] : nil
    }
}
