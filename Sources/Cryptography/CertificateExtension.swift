import CCrypto

/// What a new certificate says beside names and key.
package struct CertificateExtension: Sendable {
    /// The extensions that certificates of this program have (RFC 5280, 4.2.1).
    package enum Kind: CaseIterable, Sendable {
        case authorityKeyIdentifier
        case basicConstraints
        case extendedKeyUsage
        case keyUsage
        case subjectAlternativeName
        case subjectKeyIdentifier

        /// OpenSSL's number.
        var number: Int32 {
            switch self {
            case .authorityKeyIdentifier: NID_authority_key_identifier
            case .basicConstraints: NID_basic_constraints
            case .extendedKeyUsage: NID_ext_key_usage
            case .keyUsage: NID_key_usage
            case .subjectAlternativeName: NID_subject_alt_name
            case .subjectKeyIdentifier: NID_subject_key_identifier
            }
        }
    }

    let kind: Kind
    let value: String

    /// - Parameter value: as in a configuration file of OpenSSL, x509v3_config(5): "critical,CA:TRUE,pathlen:0". It is a
    ///   language, so that text of others must not get into it.
    package init(_ kind: Kind, _ value: String) {
        (self.kind, self.value) = (kind, value)
    }
}
