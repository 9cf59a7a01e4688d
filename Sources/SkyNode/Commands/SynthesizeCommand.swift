import ArgumentParser
import SkyCore
import Transport

/// `skynode synthesize`: a night sky of which everything is known.
struct SynthesizeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "synthesize", abstract: "Make a synthetic FITS image whose sources are known.",
        discussion: """
            Stars of a realistic range of brightness, galaxies, a sky with a gradient, noise, saturation and a TAN \
            WCS. Writes NAME.fits and NAME_truth.csv. The same options and seed give the same bytes.
            """)

    @Argument(help: ArgumentHelp("File to write.", valueName: "file"))
    var file: String

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

    @Option(help: ArgumentHelp("Where the random numbers start.", valueName: "n"))
    var seed = SkySynthesis().seed

    func run() async throws {
        var synthesis = SkySynthesis()
        synthesis.width = width
        synthesis.height = height
        synthesis.stars = stars
        synthesis.galaxies = galaxies
        synthesis.fwhm = fwhm
        synthesis.seed = seed
        try synthesis.validate()
        let sky = synthesis.render()
        let truth = try sky.write(to: file)
        let size = "\(sky.width) x \(sky.height) pixels, \(sky.truth.count) sources"
        Console.output("wrote \(PrintableText.of(file)) (\(size))")
        Console.output("wrote \(PrintableText.of(truth))")
    }
}
