/// How links are protected, as the operator chose.
public enum TransportSecurity: Sendable, Equatable {
    /// Not at all: for links within one machine, and for tests.
    case none
    /// Mutual TLS under the cluster's own key. Who has one of the others is accepted too: while keys are changed, nodes have
    /// the old one or the new one.
    case clusterKey(ClusterKey, accepting: [ClusterKey] = [])
    /// Mutual TLS under certificates of somebody's own PKI.
    case certificates(CertificateFiles)

    /// Whether links to other machines are protected.
    public var isOn: Bool { self != .none }
}

/// Where the certificates of an own PKI are, as PEM. They are read again every hour: whoever renews them need not
/// restart the node.
public struct CertificateFiles: Sendable, Hashable {
    /// This node's certificate, followed by those of intermediate authorities if there are any.
    public var certificate: String
    /// Its private key, which nobody else may read.
    public var privateKey: String
    /// The authorities whose certificates are accepted of others; all of them, and no others.
    public var trustRoots: String

    public init(certificate: String, privateKey: String, trustRoots: String) {
        self.certificate = certificate
        self.privateKey = privateKey
        self.trustRoots = trustRoots
    }
}
