public import Transport

/// The one place that knows how links are secured. Both programs leave out what they would do over TLS where
/// `isAvailable` is false.
public enum BenchmarkSecurity {
    /// Whether this version of the transport has links over TLS.
    public static let isAvailable = false

    /// The same settings, secured by the cluster key at `keyPath`.
    public static func secure(_ settings: ClusterSettings, keyPath: String) throws -> ClusterSettings {
        settings
    }

    /// Makes a new cluster key, for both ends of a run.
    public static func writeKey(to keyPath: String) throws {}
}
