import ArgumentParser
import Sky
import SkyCore

/// Artificial stars, which show how faint the sources are that a scan finds.
struct InjectionOptions: ParsableArguments {
    @Option(
        name: .customLong("inject"),
        help: ArgumentHelp(
            "Scan every image once more with this many artificial stars in it, and report the fraction recovered and the "
                + "photometric error as a function of magnitude. Writes NAME.injection.csv and NAME.injection.svg; no file is "
                + "changed, and the catalogues have none of the stars.",
            valueName: "n"))
    var count: Int?

    @Option(
        name: .customLong("inject-magnitudes"), parsing: .unconditional,
        help: ArgumentHelp(
            "Magnitudes of the brightest and the faintest star. Default: signals to noise of 100 and 1.",
            valueName: "bright:faint"))
    var magnitudes: MagnitudesArgument?

    @Option(
        name: .customLong("inject-fwhm"),
        help: ArgumentHelp(
            "Full width at half maximum of the stars. Default: the FWHM measured in the image.", valueName: "pixels"))
    var fwhm: Double?

    @Option(
        name: .customLong("inject-profile"),
        help: ArgumentHelp("Their profile: moffat or gaussian. Default: moffat.", valueName: "name"))
    var profile: NamedArgument<StarProfile>?

    @Option(
        name: .customLong("inject-seed"),
        help: ArgumentHelp("Where their random numbers start. Default: 1.", valueName: "n"))
    var seed: UInt64?

    /// The test with artificial stars that the options ask for; `nil` for none.
    ///
    /// - Throws: `SkyError` or `CommandFailure`, with one line that names the fault.
    func demand(zeroPoint: Double?) throws -> InjectionDemand? {
        guard let count else {
            let others = [
                ("--inject-magnitudes", magnitudes != nil), ("--inject-fwhm", fwhm != nil),
                ("--inject-profile", profile != nil), ("--inject-seed", seed != nil),
            ]
            if let (name, _) = others.first(where: \.1) {
                throw CommandFailure(.usage, "\(name) goes with --inject, the number of stars")
            }
            return nil
        }
        var demand = InjectionDemand(count: count)
        demand.magnitudes = magnitudes?.range
        demand.fwhm = fwhm
        demand.profile = profile?.value ?? demand.profile
        demand.seed = seed ?? demand.seed
        try demand.validate(zeroPoint: zeroPoint)
        return demand
    }
}

/// Two magnitudes on the command line, the brighter first: "18:24".
struct MagnitudesArgument: ExpressibleByArgument {
    let range: ClosedRange<Double>

    init?(argument: String) {
        let parts = argument.split(separator: ":", omittingEmptySubsequences: false).map { Double($0) }
        guard parts.count == 2, let bright = parts[0], let faint = parts[1], bright.isFinite, faint.isFinite,
            bright < faint
        else { return nil }
        range = bright...faint
    }
}
