import Testing

@testable import SkyNode

struct TextStyleTests {
    @Test(arguments: [
        (["nodes"], ColourChoice.auto), (["nodes", "--color", "always"], .always),
        (["--color=never", "nodes"], .never),
        (["nodes", "--color"], .auto), (["nodes", "--color=pink"], .auto), (["scan", "--", "--color=always"], .auto),
        (["nodes", "--color=always", "--color=never"], .never),
    ])
    func `the command line says when colours are wanted`(arguments: [String], choice: ColourChoice) {
        #expect(ColourChoice(arguments: arguments) == choice)
    }

    @Test func `colours are for terminals, unless the option or NO_COLOR says otherwise`() {
        #expect(ColourChoice.auto.isOn(terminal: true, environment: [:]))
        #expect(!ColourChoice.auto.isOn(terminal: false, environment: [:]))
        #expect(!ColourChoice.auto.isOn(terminal: true, environment: ["NO_COLOR": "1"]))
        #expect(
            ColourChoice.auto.isOn(terminal: true, environment: ["NO_COLOR": ""]), "an empty variable counts as unset")
        #expect(!ColourChoice.auto.isOn(terminal: true, environment: ["TERM": "dumb"]))
        #expect(ColourChoice.always.isOn(terminal: false, environment: ["NO_COLOR": "1"]))
        #expect(!ColourChoice.never.isOn(terminal: true, environment: [:]))
    }

    @Test func `a line's first word says in colour what it is, and plain text stays as it is`() {
        let style = TextStyle(isColoured: true)
        #expect(style.label("Retrying: sector 1 failed") == "\u{1B}[33mRetrying:\u{1B}[0m sector 1 failed")
        #expect(style.failure("no node") == "\u{1B}[31mskynode:\u{1B}[0m no node")
        #expect(style.label("night.fits: 3 sources") == "night.fits: 3 sources")
        #expect(TextStyle.plain.label("Failed: x") == "Failed: x" && TextStyle.plain.failure("x") == "skynode: x")
        #expect(style.apply(.good, to: "") == "")
    }

    @Test func `what doctor finds has its level in colour, in a column of its own`() {
        let finding = Finding.problem("no node", "start one")
        #expect(finding.lines == ["problem  no node", "         start one"])
        #expect(
            finding.lines(TextStyle(isColoured: true)) == ["\u{1B}[31mproblem\u{1B}[0m  no node", "         start one"])
    }
}
