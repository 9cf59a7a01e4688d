/// The number of differences that were refused, by reason. It is not a dictionary, so that equal results give equal bytes.
public struct RefusalCounts: Hashable, Codable, Sendable {
    private var dipole = 0
    private var shape = 0
    private var edge = 0
    private var surroundings = 0
    private var line = 0

    /// No refusals.
    public init() {}

    /// The number for one reason.
    public subscript(reason: DifferenceResult.Refusal) -> Int {
        get {
            switch reason {
            case .dipole: dipole
            case .shape: shape
            case .edge: edge
            case .surroundings: surroundings
            case .line: line
            }
        }
        set {
            switch reason {
            case .dipole: dipole = newValue
            case .shape: shape = newValue
            case .edge: edge = newValue
            case .surroundings: surroundings = newValue
            case .line: line = newValue
            }
        }
    }

    /// Adds the counts of another part; numbers of a damaged result do not overflow.
    package mutating func add(_ other: RefusalCounts) {
        for reason in DifferenceResult.Refusal.allCases { self[reason] = self[reason] &+ other[reason] }
    }
}
