import ArgumentParser
import Base
import Sky
import SkyCore
import Transport

/// `skynode synthesize`: a night sky about which everything is known, once or over several epochs.
struct SynthesizeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "synthesize", abstract: "Make synthetic FITS images whose sources are known.",
        discussion: """
            Stars of a realistic range of brightness, galaxies, a sky with a gradient, noise, saturation and a TAN \
            WCS; cosmic rays, satellite trails and missing pixels where they are asked for. Writes NAME.fits and \
            NAME_truth.csv, or with --epochs a series of both in which a source keeps its id. The same options and \
            seed give the same bytes.

            EXAMPLES:
              skynode synthesize sky.fits
              skynode synthesize big.fits --width 6000 --height 6000 --seed 7
              skynode synthesize night.fits --epochs 3 --transients 5 --movers 9
            """)

    @Argument(help: ArgumentHelp("File to write.", valueName: "file"), completion: .file())
    var file: String

    @OptionGroup(title: "Frame") var frame: FrameOptions
    @OptionGroup(title: "Blemishes and format") var blemishes: BlemishOptions
    @OptionGroup(title: "Epochs") var series: EpochOptions

    func run() async throws {
        var synthesis = SkySynthesis()
        frame.apply(to: &synthesis)
        blemishes.apply(to: &synthesis)
        series.apply(to: &synthesis)
        try synthesis.validate(memory: MachineMemory.total)
        for epoch in 0..<synthesis.epochs {
            let path = synthesis.path(of: epoch, for: file)
            let sky = synthesis.render(epoch: epoch)
            let truth = try sky.write(to: path)
            let celestial = sky.truth.count { $0.kind.isCelestial }
            let size = "\(sky.width) x \(sky.height) pixels, \(celestial) sources"
            Console.output("wrote \(PrintableText.of(path)) (\(size))")
            Console.output("wrote \(PrintableText.of(truth))")
        }
    }
}
