import NIOCore

@testable import Transport

/// A value of any shape, and the way in which it is written, out of those that `Codable` knows.
indirect enum Shape {
    case null
    case bool(Bool)
    case int(Int64)
    case uint(UInt64)
    case double(UInt64)
    case float(UInt32)
    case text(String)
    case bytes([UInt8])
    case buffer(ByteBuffer)
    case numbers([Int32])
    /// Encodes nothing at all.
    case nothing
    case array([Shape], Manner)
    case object([(key: String, value: Shape)], Manner)
    case broken(Rule)
    /// Writes another message on the way.
    case reentrant(Shape)

    /// How children are written.
    enum Manner: CaseIterable {
        /// One after the other.
        case inTurn
        /// Through encoders that are all made before any is used, the last first.
        case backwards
        /// Through nested containers, where children are containers.
        case nested
        /// As `inTurn`, and the encoder and its container outlive the message.
        case kept
    }

    /// What a type may not do.
    enum Rule: CaseIterable {
        case throwing, twoValues, twoKinds, sameKey
    }

    struct Thrown: Error {}

    /// The encoder may refuse a value that is deeper than this, and must refuse one that is much deeper.
    static let surelyWritable = 60
    private static let depthMax = 70

    init(_ input: inout FuzzInput, depth: Int = 0) {
        let choice = input.byte()
        let isDeep = depth >= Shape.depthMax
        switch choice & 31 {
        case 0: self = .null
        case 1: self = .bool(choice & 128 != 0)
        case 2: self = .int(Int64(truncatingIfNeeded: input.integer(Int64.self)) >> (Int64(choice >> 5) * 9))
        case 3: self = .uint(input.integer(UInt64.self) >> (UInt64(choice >> 5) * 9))
        case 4: self = .double(input.integer())
        case 5: self = .double(Double(Float(bitPattern: input.integer(UInt32.self))).bitPattern)
        case 6: self = .float(input.integer())
        case 7: self = .text(input.text())
        case 8: self = .bytes(input.field())
        case 9: self = .buffer(ByteBuffer(bytes: input.field()))
        case 10: self = .numbers(input.field().map { Int32($0) << Int32(choice >> 5) })
        case 11: self = .numbers(input.field().map { -(Int32($0) << Int32((choice >> 5) * 3)) })
        case 12: self = .nothing
        case 13: self = .broken(input.choice(of: Rule.allCases))
        case 14 where !isDeep: self = .reentrant(Shape(&input, depth: depth + 1))
        // Long ones, of which every element costs two bytes of input at least.
        case 15 where !isDeep: self = .text(String(repeating: "catalogue \u{2609} ", count: Int(input.byte())))
        case 16...22 where !isDeep:
            let manner = Manner.allCases[Int(choice >> 5 & 3)]
            let count = choice & 31 == 16 ? Int(input.byte()) : Int(choice & 3)
            self = .array(Shape.children(count, &input, depth) { Shape(&$0, depth: depth + 1) }, manner)
        case 23...31 where !isDeep:
            let manner = Manner.allCases[Int(choice >> 5 & 3)]
            let count = choice & 31 == 23 ? Int(input.byte()) : Int(choice & 3)
            self = .object(
                Shape.children(count, &input, depth) { (Shape.key($0.byte()), Shape(&$0, depth: depth + 1)) }, manner)
        default: self = .uint(UInt64(choice))
        }
    }

    private static func children<Child>(
        _ count: Int, _ input: inout FuzzInput, _ depth: Int, _ child: (inout FuzzInput) -> Child
    ) -> [Child] {
        var children: [Child] = []
        while children.count < count, !input.isEmpty { children.append(child(&input)) }
        return children
    }

    private static func key(_ choice: UInt8) -> String {
        switch choice {
        case 0: ""
        case 1: "super"
        case 2: "é"
        case 3: "\0"
        case 4: String(repeating: "k", count: 300)
        case 5...15: "\(choice)"
        default: "key\(choice)"
        }
    }
}

// MARK: - What is to be expected

extension Shape {
    var depth: Int {
        switch self {
        case .array(let children, _): 1 + (children.map(\.depth).max() ?? 0)
        case .object(let fields, _): 1 + (fields.map(\.value.depth).max() ?? 0)
        case .reentrant(let value): value.depth
        case .nothing, .broken: 1
        default: 0
        }
    }

    var breaksRules: Bool {
        switch self {
        case .broken: true
        case .array(let children, _): children.contains(where: \.breaksRules)
        case .object(let fields, _):
            Set(fields.map(\.key)).count < fields.count || fields.contains(where: \.value.breaksRules)
        case .reentrant(let value): value.breaksRules
        default: false
        }
    }
}
