import Base
import Transport

/// What a command has learned while it looked for a node, as a value: which nodes refused it and why, and which have another key. It
/// decides whether the command may work alone, and what the user is told.
struct ClusterSearch {
    /// By what nodes know the command.
    enum Identity: Equatable {
        case nothing
        /// - Parameter remark: what to add to a complaint about a key that nobody has named.
        case key(file: String, remark: String)
        case credential(Person, remark: String)
        case certificates
    }

    /// A node that answered, and did not become this command's.
    struct Refusal: Equatable {
        var address: NodeAddress
        /// Why there is no link, in one line.
        var reason: String
        var cause: LinkCause

        init(_ address: NodeAddress, _ error: any Error) {
            self.address = address
            cause = LinkCause(error)
            if case .refusedByPeer(let refusal)? = error as? HandshakeFailure {
                reason = PrintableText.of(refusal.text)
            } else {
                reason = PrintableText.of(ClusterSession.reason(error))
            }
        }

        /// Whether the two sides have different keys. Transport uses these words for a certificate that was made by none of the keys.
        var isOtherKey: Bool {
            ["another cluster key", "accept this node's cluster key"].contains { reason.contains($0) }
        }
    }

    var identity: Identity
    /// The most nodes that are named in a message.
    private static let named = 3

    /// What answers at the address of this machine's node, where that is no node for this command.
    private(set) var here: Refusal?
    private(set) var refusals: [Refusal] = []
    private(set) var strangers: [NodeFinder.Stranger] = []

    init(_ identity: Identity) { self.identity = identity }

    mutating func failed(_ address: NodeAddress, _ error: any Error) {
        // A command with slots is a node, and hears its own beacon.
        guard (error as? HandshakeFailure)?.isOfItself != true else { return }
        let refusal = Refusal(address, error)
        guard address == Defaults.daemon else { return refusals.append(refusal) }
        // Most machines have no node, which is nothing to speak of.
        if error is HandshakeFailure { here = refusal }
    }

    mutating func heard(_ stranger: NodeFinder.Stranger) { strangers.append(stranger) }

    private var all: [Refusal] { (here.map { [$0] } ?? []) + refusals }

    /// Those that have refused what this command showed them.
    private var refused: [Refusal] { all.filter(\.cause.isAboutKeys) }

    private func name(_ address: NodeAddress) -> String {
        address == Defaults.daemon ? "the node of this machine (\(address))" : "the node at \(address)"
    }

    // MARK: - What the user is told

    /// How many have refused the command besides the first.
    private var others: String {
        switch refused.count {
        case ...1: ""
        case 2: ", as does another node"
        default: ", as do \(refused.count - 1) other nodes"
        }
    }

    /// A line where one node has taken the command and others have not; `nil` where none has refused it.
    func remark(using address: NodeAddress) -> String? {
        guard let first = refused.first else { return nil }
        return "\(sentence(first))\(others); using \(name(address))"
    }

    /// What was heard of nodes with another key; `nil` where there are none.
    var strangersLine: String? {
        guard !strangers.isEmpty else { return nil }
        let addresses = strangers.map(\.address).sorted()
        let list = addresses.prefix(ClusterSearch.named).joined(separator: ", ")
        let rest = addresses.count > ClusterSearch.named ? " and \(addresses.count - ClusterSearch.named) more" : ""
        let key =
            !strangersHaveKeys
            ? "without a cluster key" : identity == .nothing ? "with a cluster key" : "with another cluster key"
        return addresses.count == 1
            ? "a node \(key) is heard, at \(list)" : "\(addresses.count) nodes \(key) are heard, at \(list)\(rest)"
    }

    private var strangersHaveKeys: Bool {
        strangers.contains { if case .foreign(let mark) = $0.fault { mark.key != 0 } else { true } }
    }

    /// Why no node is used, and whether a command may do without one. A command that may not ends with the reason.
    ///
    /// - Parameter isRequired: whether the user wants a cluster in any case.
    func conclusion(isRequired: Bool = false) -> (reason: String, mayWorkAlone: Bool) {
        if let objection { return ("\(objection); scan and simulate work without a cluster with --alone", false) }
        let because = all.first.map { "at \($0.address): \($0.reason)" } ?? strangersLine
        let reason = "no node found" + (because.map { " (\($0))" } ?? "")
        if case .credential(let person, let remark) = identity {
            return (
                "\(reason), and with the credential of \(person)\(remark) nothing is done without one; scan and simulate work "
                    + "without a cluster with --alone", false
            )
        }
        return (reason, !isRequired)
    }

    /// Why it would be a mistake to work alone: there is a cluster, and this command's key is not its key. `nil` where it would be none.
    private var objection: String? {
        if let first = refused.first {
            return sentence(first) + others + (advice(first).map { "; \($0)" } ?? "")
        }
        // A command without a key does not mean a cluster.
        guard identity != .nothing, let strangersLine else { return nil }
        let advice = strangersHaveKeys ? otherKeyAdvice : LinkCause.noKey.advice(nil)
        return "\(strangersLine), and none \(own)\(advice.map { "; \($0)" } ?? "")"
    }

    /// What to do where nodes have another key than this command.
    private var otherKeyAdvice: String? {
        person.flatMap { LinkCause.key.advice($0) } ?? "name its key with --cluster-key FILE or \(KeyChoice.variable)"
    }

    private var person: Person? {
        if case .credential(let person, _) = identity { person } else { nil }
    }

    private func advice(_ refusal: Refusal) -> String? {
        switch refusal.cause {
        case .key: otherKeyAdvice
        // The reason says it.
        case .noKey: nil
        default: refusal.cause.advice(person)
        }
    }

    private func sentence(_ refusal: Refusal) -> String {
        let name = name(refusal.address)
        switch identity {
        case .nothing where refusal.cause == .key: return "\(name) has a cluster key, and this command has none"
        case .nothing, .certificates: return "\(name) refuses this command: \(refusal.reason)"
        case .key(_, let remark), .credential(_, let remark):
            return refusal.isOtherKey
                ? "\(name) uses a different cluster key\(remark)"
                : "\(name) refuses this command: \(refusal.reason)\(remark)"
        }
    }

    /// What nodes of the own cluster would have.
    private var own: String {
        switch identity {
        case .nothing, .certificates: "that takes this command's certificate"
        case .key(let file, ""): "with the key \(PrintableText.of(file))"
        case .key(_, let remark): "with this command's key\(remark)"
        case .credential(let person, let remark): "with that of the credential of \(person)\(remark)"
        }
    }
}

extension SecurityOptions {
    /// By what nodes know a command with this security.
    func identity(_ security: TransportSecurity) -> ClusterSearch.Identity {
        let remark = key?.remark ?? ""
        return switch security {
        case .none: .nothing
        case .clusterKey: .key(file: key?.path ?? "", remark: remark)
        case .credential(let credential): .credential(credential.person, remark: remark)
        case .certificates: .certificates
        }
    }
}
