/// How much of the cluster a person may use, as their certificate says. Each node keeps the limits for the jobs that were submitted to
/// it.
public struct PersonalLimits: Hashable, Codable, Sendable {
    /// How many slots the person's jobs may hold together; `nil` for no limit.
    public private(set) var slots: Int?
    /// How many of the person's jobs may go on at once; `nil` for no limit.
    public private(set) var jobs: Int?
    /// How many bytes the person's jobs may store, those that have ended included; `nil` for no limit.
    public private(set) var bytes: Int?

    /// What is limited. The raw values are the words in certificates.
    public enum Subject: String, CaseIterable, Sendable {
        case slots, jobs, bytes

        /// Nobody needs a limit of 0, because a person without work has no credential. The upper ends are more than any cluster has,
        /// and low enough to be added up.
        public var range: ClosedRange<Int> {
            switch self {
            case .slots: 1...1 << 20
            case .jobs: 1...1_000_000
            case .bytes: 1...1 << 50
            }
        }
    }

    /// No limits.
    public init() {}

    /// The result is `nil` where a limit is out of its range.
    public init?(slots: Int? = nil, jobs: Int? = nil, bytes: Int? = nil) {
        for (subject, value) in [(Subject.slots, slots), (.jobs, jobs), (.bytes, bytes)] {
            guard let value else { continue }
            guard subject.range.contains(value) else { return nil }
            self[subject] = value
        }
    }

    private enum CodingKeys: String, CodingKey {
        case slots, jobs, bytes
    }

    /// - Throws: `DecodingError` where a limit is out of its range: this is read from journals, and from other nodes.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let limits = PersonalLimits(
            slots: try values.decodeIfPresent(Int.self, forKey: .slots),
            jobs: try values.decodeIfPresent(Int.self, forKey: .jobs),
            bytes: try values.decodeIfPresent(Int.self, forKey: .bytes))
        guard let limits else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "a limit is out of range"))
        }
        self = limits
    }

    /// Whether nothing is limited.
    public var isEmpty: Bool { self == PersonalLimits() }

    private subscript(subject: Subject) -> Int? {
        get {
            switch subject {
            case .slots: slots
            case .jobs: jobs
            case .bytes: bytes
            }
        }
        set {
            switch subject {
            case .slots: slots = newValue
            case .jobs: jobs = newValue
            case .bytes: bytes = newValue
            }
        }
    }

    // MARK: - In a certificate

    private static let prefix = "urn:skynet:limit:"

    /// The limits as names in a certificate.
    var uris: [String] {
        Subject.allCases.compactMap { subject in
            self[subject].map { "\(PersonalLimits.prefix)\(subject.rawValue):\($0)" }
        }
    }

    /// Reads the limits among the names of a certificate.
    ///
    /// The result is `nil` where a name that begins like a limit is none that this version knows and keeps, where it is spelt in another
    /// way than `uris` spells it, and where there are two of one subject: whoever is limited must not be without limits by a mistake.
    init?(uris: [String]) {
        for uri in uris where uri.lowercased().hasPrefix(PersonalLimits.prefix) {
            let parts = uri.dropFirst(PersonalLimits.prefix.count).split(
                separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, let subject = Subject(rawValue: String(parts[0])), self[subject] == nil,
                let value = Int(parts[1]), subject.range.contains(value),
                uri == "\(PersonalLimits.prefix)\(subject.rawValue):\(value)"
            else { return nil }
            self[subject] = value
        }
    }
}
