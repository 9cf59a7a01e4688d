import Foundation
public import Transport

/// The one place that knows how links are secured. Both programs leave out what they would do over TLS where
/// `isAvailable` is false.
public enum BenchmarkSecurity {
    /// Whether this version of the transport has links over TLS.
    public static let isAvailable = true

    /// The same settings, secured by the cluster key at `keyPath`.
    public static func secure(_ settings: ClusterSettings, keyPath: String) throws -> ClusterSettings {
        var settings = settings
        settings.security = .clusterKey(try ClusterKey(contentsOf: keyPath))
        return settings
    }

    /// Makes a new cluster key, for both ends of a run.
    public static func writeKey(to keyPath: String) throws {
        let key = try ClusterKey.make(now: Date.now)
        // Nobody else may read it, otherwise it is not accepted.
        guard
            FileManager.default.createFile(
                atPath: keyPath, contents: Data(key.pem.utf8), attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown) }
    }
}
