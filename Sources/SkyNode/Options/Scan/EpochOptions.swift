import ArgumentParser
import Sky
import SkyCore

/// Several synthetic frames of one sky, and what changes in it.
struct EpochOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Frames of the same sky, each with its own pointing, seeing, sky level, transparency and noise. With 2 or "
                + "more the files are NAME_e0.fits, NAME_e0_truth.csv, and so on.",
            valueName: "n"))
    var epochs = SkySynthesis().epochs

    @Option(
        help: ArgumentHelp(
            "How far the pointings scatter along each axis, as a standard deviation.", valueName: "pixels"))
    var dither = SkySynthesis().dither

    @Option(help: ArgumentHelp("Time from one epoch to the next.", valueName: "time"))
    var interval = DurationArgument(.seconds(SkySynthesis().interval))

    @Option(
        help: ArgumentHelp(
            "Point sources that are there in some epochs only, half of them on the outskirts of galaxies.",
            valueName: "n"))
    var transients = SkySynthesis().transients

    @Option(help: ArgumentHelp("Point sources that move, by 6 to 60 seconds of arc per hour.", valueName: "n"))
    var movers = SkySynthesis().movers

    @Option(help: ArgumentHelp("Stars whose magnitude changes, by 0.4 to 1.5.", valueName: "n"))
    var variables = SkySynthesis().variables

    func apply(to synthesis: inout SkySynthesis) {
        synthesis.epochs = epochs
        synthesis.dither = dither
        synthesis.interval = interval.duration.inSeconds
        synthesis.transients = transients
        synthesis.movers = movers
        synthesis.variables = variables
    }
}
