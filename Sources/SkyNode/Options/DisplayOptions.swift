import ArgumentParser

/// How a command's results are shown.
struct DisplayOptions: ParsableArguments {
    @Option(help: "text for people, json for programs: one object a line.")
    var format = OutputFormat.text

    /// The main program also reads this option itself; see `ColourChoice`.
    @Option(help: ArgumentHelp("Colours: on a terminal (auto), always or never.", valueName: "when"))
    var color = ColourChoice.auto
}
