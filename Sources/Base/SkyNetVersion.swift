/// The version of this program, shown by `skynode --version` and in lists of nodes.
public enum SkyNetVersion {
    public static let current = "0.2.0"

    /// The releases whose own code measures alike, for example 0.1 for 0.1.0. A release that changes any result changes more than
    /// its last number. What the libraries measure is in `Arithmetic`.
    package static var series: String {
        current.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false).prefix(2).joined(separator: ".")
    }
}
