import ArgumentParser
import Base
import Foundation
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

    @Argument(
        help: ArgumentHelp("File to write: it ends with .fits, .fit or .fts.", valueName: "file"),
        completion: .file(extensions: ["fits", "fit", "fts"]))
    var file: String

    @OptionGroup var replacing: OverwriteOption

    @OptionGroup(title: "Frame") var frame: FrameOptions
    @OptionGroup(title: "Blemishes and format") var blemishes: BlemishOptions
    @OptionGroup(title: "Epochs") var series: EpochOptions

    func run() async throws {
        var synthesis = SkySynthesis()
        frame.apply(to: &synthesis)
        blemishes.apply(to: &synthesis)
        series.apply(to: &synthesis)
        try synthesis.validate(memory: MachineMemory.total)
        try check(synthesis)
        for epoch in 0..<synthesis.epochs {
            let path = synthesis.path(of: epoch, for: file)
            let sky = synthesis.render(epoch: epoch)
            let truth = try sky.write(to: path, overwriting: replacing.overwrite)
            let celestial = sky.truth.count { $0.kind.isCelestial }
            let size = "\(sky.width) x \(sky.height) pixels, \(celestial) sources"
            Console.output("wrote \(PrintableText.of(path)) (\(size))")
            Console.output("wrote \(PrintableText.of(truth))")
        }
    }

    /// Checks the names of all files before the first is made: some epochs of a series are of no use.
    private func check(_ synthesis: SkySynthesis) throws {
        let endings = [".fits", ".fit", ".fts"]
        guard endings.contains(where: file.lowercased().hasSuffix) else {
            throw SkyError(
                .badInput, "\(file): the name of a FITS image ends with .fits, .fit or .fts; nothing was written")
        }
        let lengths = NameLengths(OutputPlace.file(file, .fits).folder)
        for epoch in 0..<synthesis.epochs {
            let frame = synthesis.path(of: epoch, for: file)
            let truth = TruthCatalogue.path(beside: frame)
            let others = endings.map { (frame as NSString).deletingPathExtension + $0 }
            // A new frame would take the truth of one that is called the same but for its ending.
            if !replacing.overwrite, access(frame, F_OK) != 0,
                let other = others.first(where: { $0 != frame && access($0, F_OK) == 0 }),
                access(truth, F_OK) == 0
            {
                throw SkyError(
                    .badInput, "\(truth): is the truth of \(other); it is not overwritten without --overwrite")
            }
            for (path, kind) in [(frame, OutputKind.frame), (truth, .truth)] {
                try lengths.check(path, kind)
                try kind.check(path, overwrites: replacing.overwrite)
            }
        }
    }
}
