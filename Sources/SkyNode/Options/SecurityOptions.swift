import ArgumentParser
import Base
import Foundation
import Glibc
import SkyCore
import Transport

/// Who may take part: those who have the cluster's key, those who have certificates of the user's own PKI, or everybody.
struct SecurityOptions: ParsableArguments {
    @Option(ServeKeys.clusterKey, completion: .file()) var clusterKey: String?
    @Option(ServeKeys.acceptKey, completion: .file()) var acceptedKeys: [String]
    @Option(ServeKeys.certificate, completion: .file()) var certificate: String?
    @Option(ServeKeys.privateKey, completion: .file()) var privateKey: String?
    @Option(ServeKeys.trustRoots, completion: .file()) var trustRoots: String?
    @Flag(ServeKeys.insecure) var insecure: Bool

    /// How to get a key, for every message that asks for one.
    static let advice =
        "make a key with `skynode key new > cluster.key`, copy it to every machine, start with --cluster-key cluster.key"

    // MARK: - What the options say

    private var hasCertificates: Bool { certificate != nil || privateKey != nil || trustRoots != nil }

    /// The key that is used, and where it was named.
    var key: KeyChoice? {
        KeyChoice.find(
            option: clusterKey, hasCertificates: hasCertificates, isInsecure: insecure,
            environment: ProcessInfo.processInfo.environment, home: Account.ofThisProcess?.home)
    }

    private var keyFile: String? { key?.path }

    /// The files that are named, and by which options.
    var files: [(option: String, path: String)] { files(key: keyFile) }

    private func files(key: String?) -> [(option: String, path: String)] {
        let single = [
            ("--cluster-key", key), ("--tls-certificate", certificate), ("--tls-private-key", privateKey),
            ("--tls-trust-roots", trustRoots),
        ]
        return single.compactMap { option, path in path.map { (option, $0) } }
            + acceptedKeys.map { ("--accept-key", $0) }
    }

    /// The files that no worker may read: the keys that are named, and those in their usual places.
    var secrets: [String] {
        [keyFile, privateKey].compactMap(\.self) + acceptedKeys
            + KeyChoice.places(ProcessInfo.processInfo.environment, home: Account.ofThisProcess?.home)
    }

    /// The options as they were given, for a command that reaches the same nodes. A key of the environment or of the usual
    /// place is not among them, because that command finds it there, too.
    var words: [String] {
        files(key: clusterKey).flatMap { [$0.option, $0.path] } + (insecure ? ["--insecure"] : [])
    }

    /// How links are protected.
    enum Protection: Hashable {
        case key(file: String), certificates, insecure, none
    }

    var protection: Protection {
        if let keyFile { return .key(file: keyFile) }
        return hasCertificates ? .certificates : insecure ? .insecure : .none
    }

    /// Whether links to other machines are refused, because neither a key nor certificates can tell who may take part.
    var isLoopbackOnly: Bool { !insecure && keyFile == nil && !hasCertificates }

    /// What an operator should know of a node with these options.
    var notice: String? {
        if insecure {
            return "links are neither encrypted nor authenticated (--insecure): whoever reaches this node can use it"
        }
        if let key, key.source == .place {
            return "the key \(key.path) was taken because none was named: whoever has it can use this node (an empty "
                + "\(KeyChoice.variable) takes none)"
        }
        return isLoopbackOnly
            ? "no key: this node accepts its own machine only; for others, \(SecurityOptions.advice)" : nil
    }

    // MARK: - What follows

    /// Refuses an address on another machine where links there would be open to everybody.
    func checkReach(_ address: NodeAddress, option: String) throws {
        guard isLoopbackOnly, !address.isLoopback else { return }
        throw CommandFailure(
            .usage,
            "\(option) \(address): without a key, links stay within this machine; \(SecurityOptions.advice) (--insecure "
                + "does without, on a network you trust)")
    }

    /// Reads the files.
    ///
    /// - Throws: `CommandFailure` for options that contradict each other, and `SecurityError` for files that cannot be used.
    func transportSecurity() throws -> TransportSecurity {
        try checkContradictions()
        let security: TransportSecurity
        if let certificate, let privateKey, let trustRoots {
            security = .certificates(
                CertificateFiles(certificate: certificate, privateKey: privateKey, trustRoots: trustRoots))
        } else if let key {
            switch try own(key) {
            case .cluster(let own):
                security = .clusterKey(
                    own,
                    accepting: try acceptedKeys.map { path throws(SecurityError) in try ClusterKey(contentsOf: path) })
            case .credential(let credential):
                guard acceptedKeys.isEmpty else {
                    throw CommandFailure(.usage, "--accept-key is for nodes; \(key.path) is a \(credential)")
                }
                security = .credential(credential)
            }
        } else {
            security = .none
        }
        // Files that do not fit together, or are out of date, are reported before anything is started.
        _ = try TLSContexts(security, node: .random(), now: .now)
        return security
    }

    /// The same for a node, which needs the cluster key itself.
    ///
    /// - Throws: as `transportSecurity`.
    func nodeSecurity() throws -> TransportSecurity {
        let security = try transportSecurity()
        if case .credential(let credential) = security {
            throw CommandFailure(
                .usage,
                "\(PrintableText.of(keyFile ?? "")): the \(credential) is for commands; a node needs the cluster key itself"
            )
        }
        return security
    }

    /// The revocations that lie beside the cluster key and beside those that are accepted: while keys are changed, people revoke with
    /// either.
    ///
    /// - Parameter security: what `nodeSecurity` has returned.
    /// - Throws: `SecurityError` for a file that is not what `skynode key revoke` writes.
    func revocations(for security: TransportSecurity) throws(SecurityError) -> Revocations {
        var revocations = Revocations()
        for key in [keyFile].compactMap(\.self) + acceptedKeys {
            revocations.add(contentsOf: try Revocations(contentsOf: Revocations.path(besideKey: key), for: security))
        }
        return revocations
    }

    private func own(_ key: KeyChoice) throws -> KeyFile {
        do {
            return try KeyFile(contentsOf: key.path)
        } catch  where key.source == .place {
            throw CommandFailure(.usage, error.description + key.remark)
        }
    }

    private func checkContradictions() throws {
        if hasCertificates, certificate == nil || privateKey == nil || trustRoots == nil {
            throw CommandFailure(
                .usage, "--tls-certificate, --tls-private-key and --tls-trust-roots belong together; give all three")
        }
        if clusterKey != nil, hasCertificates {
            throw CommandFailure(.usage, "--cluster-key and --tls-certificate contradict each other; give one of them")
        }
        if !acceptedKeys.isEmpty, keyFile == nil {
            throw CommandFailure(.usage, "--accept-key goes with --cluster-key: a node has one key of its own")
        }
        if insecure, hasCertificates || keyFile != nil {
            let given =
                hasCertificates ? "--tls-certificate" : clusterKey != nil ? "--cluster-key" : KeyChoice.variable
            throw CommandFailure(.usage, "--insecure and \(given) contradict each other; leave one out")
        }
    }
}
