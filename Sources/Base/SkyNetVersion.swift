/// The version of this program, shown by `skynode --version` and in lists of nodes.
public enum SkyNetVersion {
    public static let current = "0.2.0"

    /// The releases that measure alike, for example 0.1 for 0.1.0. A release that changes any result changes more than its
    /// last number.
    package static var series: String { series(of: current) }

    /// Whether results of a program of that version may stand beside those of this one.
    package static func measuresAlike(_ version: String) -> Bool { series(of: version) == series }

    private static func series(of version: String) -> String {
        version.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false).prefix(2).joined(separator: ".")
    }
}
