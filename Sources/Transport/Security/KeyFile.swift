/// What stands in a file that `--cluster-key` may name.
public enum KeyFile: Equatable, Sendable {
    /// The cluster key, with which nodes and commands may do everything.
    case cluster(ClusterKey)
    /// A person's credential, for commands.
    case credential(Credential)

    /// Reads a file.
    ///
    /// - Throws: `SecurityError` for a file that is missing, too long, neither of the two, or open to others.
    public init(contentsOf path: String) throws(SecurityError) {
        let (text, exposure) = try SecretFile.examine(path, .secret)
        self =
            Credential.isOne(text)
            ? .credential(try Credential(pem: text, from: path)) : .cluster(try ClusterKey(pem: text, from: path))
        if let exposure { throw exposure }
    }
}
