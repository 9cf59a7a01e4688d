/// The options of a scan in a job in JSON.
enum OptionsTarget: FuzzTarget {
    static let name = "options"
    static let limit = RunLimit.brief

    private static let options: [ValueTree.Field] = [
        .init(key: "threshold", value: .real(2.5)), .init(key: "min-area", value: .integer(5)),
        .init(key: "filter", value: .text("seeing")), .init(key: "sector", value: .integer(1024)),
        .init(key: "margin", value: .integer(64)), .init(key: "mesh", value: .integer(64)),
        .init(key: "aperture", value: .text("4,10,20")), .init(key: "zero-point", value: .real(25.1)),
        .init(key: "gain", value: .real(1.5)), .init(key: "saturation", value: .integer(60_000)),
        .init(key: "preset", value: .text("sensitive")),
    ]

    static func run(_ input: FuzzInput) {
        var input = input
        let choice = input.byte()
        guard case .object(var fields) = BodyTarget.scan else { return }
        let options = (0...choice & 1).map { _ in input.choice(of: OptionsTarget.options) }
        fields.append(.init(key: "options", value: .object(options)))
        var tree = ValueTree.object(fields)
        for _ in 0..<choice >> 6 { tree.damage(&input) }
        var text = JSONText()
        text.write(tree, &input)
        BodyTarget.take(text.bytes)
    }

    static func seeds() -> [[UInt8]] {
        (0..<UInt8(options.count)).flatMap { option in
            [[0, option], [1, option, 0], [65, option, 3, 1, 0, 1, 5], [128, option, 1, 0, 3, 9, 1, 0, 4, 7]]
        }
    }
}
