import Base
import Transport

/// Why there is no link to a node, as far as it decides what can be done about it.
enum LinkCause: Hashable {
    /// The two have different keys, or one of them has none.
    case key
    /// The node has no key, as it seems, and this side has one.
    case noKey
    /// The node knows the person's credential, and does not take it any more.
    case credential
    /// A certificate has expired, or is not valid yet.
    case clock
    /// The node serves other users or its own machine only.
    case user
    case version
    /// The node is stopping.
    case leaving
    /// Something answers that is no node.
    case notNode
    /// Nobody answers.
    case unreachable

    init(_ error: any Error) {
        guard let failure = error as? HandshakeFailure else {
            self = .unreachable
            return
        }
        switch failure {
        case .timedOut: self = .unreachable
        case .refused(let refusal), .refusedByPeer(let refusal): self.init(refusal.reason)
        // Transport reports what concerns keys only in words for people.
        case .broken(let words):
            let causes: [(LinkCause, [String])] = [
                (.clock, ["check the clocks"]),
                (.noKey, ["started without a key", "was it started with the cluster's key"]),
                (.key, ["cluster key", "cluster's key", "certificate"]),
            ]
            self = causes.first { $0.1.contains { words.contains($0) } }?.0 ?? .notNode
        }
    }

    private init(_ reason: Refusal.Reason) {
        switch reason {
        case .identity: self = .credential
        case .role: self = .user
        case .version: self = .version
        case .leaving: self = .leaving
        case .cluster: self = .key
        case .notThisProtocol, .itself, .duplicate, .other: self = .notNode
        }
    }

    /// Whether the node has refused what this side showed: a key, a certificate or a credential.
    var isAboutKeys: Bool { [.key, .noKey, .credential, .clock].contains(self) }

    /// What to do about it; `nil` where nothing of this program answers or where it passes.
    ///
    /// - Parameter person: whose credential this side has; `nil` where it has a key.
    func advice(_ person: Person?) -> String? {
        switch self {
        case .key:
            person.map {
                "the credential is of another cluster key: have one issued under this one (\($0.issueCommand))"
            }
                ?? "copy one key file to both machines; skynode key show FILE compares them"
        case .noKey: "start it with the cluster's key (--cluster-key)"
        case .credential: person?.renewal
        case .clock: "set the clocks of both machines by NTP"
        case .user: "give both the same key, or run both as one user"
        case .version: "install one version on both"
        case .leaving: "it is stopping; try again when it is back"
        case .notNode, .unreachable: nil
        }
    }
}
