/// How links are protected, as the operator chose.
public enum TransportSecurity: Sendable, Equatable {
    /// Links are not protected. This is for links within one machine, and for tests.
    case none
    /// Mutual TLS under the cluster's own key. Peers that have one of the other keys are accepted too: while keys are changed, some
    /// nodes have the old key and some the new one.
    case clusterKey(ClusterKey, accepting: [ClusterKey] = [])
    /// Mutual TLS for the command of a person, who is known by a credential under the cluster key. Nodes do not have this.
    case credential(Credential)
    /// Mutual TLS under certificates of somebody's own PKI.
    case certificates(CertificateFiles)

    /// Whether links to other machines are protected.
    public var isOn: Bool { self != .none }
}

/// Where the certificates of an own PKI are, as PEM. They are read again every hour, so that a renewal needs no restart of the
/// node.
public struct CertificateFiles: Sendable, Hashable {
    /// This node's certificate, followed by those of intermediate authorities if there are any.
    public var certificate: String
    /// Its private key, which nobody else may read.
    public var privateKey: String
    /// The authorities whose certificates are accepted from others: all of these, and no more.
    public var trustRoots: String

    public init(certificate: String, privateKey: String, trustRoots: String) {
        self.certificate = certificate
        self.privateKey = privateKey
        self.trustRoots = trustRoots
    }
}
