import ArgumentParser
import Sky
import SkyCore

/// The defects of a synthetic frame, and how the frame is stored.
struct BlemishOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Tracks of cosmic rays, 2 to 40 pixels long.", valueName: "n"))
    var cosmicRays = SkySynthesis().cosmicRays

    @Option(help: ArgumentHelp("Trails of satellites across the whole frame.", valueName: "n"))
    var trails = SkySynthesis().trails

    @Option(help: ArgumentHelp("Brightness of a trail in its middle.", valueName: "adu"))
    var trailBrightness = SkySynthesis().trailBrightness

    @Flag(help: "Leave a rectangle without values: NaN, or BLANK where pixels are integers.")
    var nanBlock = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How pixels are stored: 8, 16, 32, 64 (integers; 16 unsigned by BZERO, 8 scaled by BSCALE), -32 or -64 "
                + "(floating point).",
            valueName: "n"))
    var bitpix = SkySynthesis().bitpix

    func apply(to synthesis: inout SkySynthesis) {
        synthesis.cosmicRays = cosmicRays
        synthesis.trails = trails
        synthesis.trailBrightness = trailBrightness
        synthesis.nanBlock = nanBlock
        synthesis.bitpix = bitpix
    }
}
