import ArgumentParser
import Sky
import SkyCore

/// The contents of a synthetic frame, and how sharp it is.
struct FrameOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Columns.", valueName: "pixels"))
    var width = SkySynthesis().width

    @Option(help: ArgumentHelp("Rows.", valueName: "pixels"))
    var height = SkySynthesis().height

    @Option(help: ArgumentHelp("Stars. Default: by area, about 5,000 for 2048 x 2048.", valueName: "n"))
    var stars: Int?

    @Option(help: ArgumentHelp("Galaxies. Default: by area, about 600 for 2048 x 2048.", valueName: "n"))
    var galaxies: Int?

    @Option(help: ArgumentHelp("Full width at half maximum of a star.", valueName: "pixels"))
    var fwhm = SkySynthesis().fwhm

    @Option(
        help: ArgumentHelp(
            "What the seeing makes of a point: moffat (of exponent 3, with broad wings) or gaussian.",
            valueName: "name"))
    var profile = NamedArgument(value: SkySynthesis().profile)

    @Option(help: ArgumentHelp("Where the random numbers start.", valueName: "n"))
    var seed = SkySynthesis().seed

    func apply(to synthesis: inout SkySynthesis) {
        synthesis.width = width
        synthesis.height = height
        synthesis.stars = stars
        synthesis.galaxies = galaxies
        synthesis.fwhm = fwhm
        synthesis.profile = profile.value
        synthesis.seed = seed
    }
}
