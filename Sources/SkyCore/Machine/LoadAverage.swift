import Glibc

/// How busy this machine is.
enum LoadAverage {
    /// The number of processes that run or wait to run, averaged over a minute; `nil` where the system does not tell.
    static var lastMinute: Double? {
        var loads = [0.0]
        return getloadavg(&loads, 1) == 1 ? loads[0] : nil
    }
}
