import ArgumentParser
import Base
import Sky
import SkyCore
import Transport

/// What decides the catalogue. Names and defaults are SExtractor's where it has them.
struct DetectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "sextractor: SExtractor's defaults (threshold 1.5, at least 5 pixels, default filter). sensitive: twice as "
                + "many faint stars (a filter as wide as the image's stars, 5 sigma of the filtered noise, any area). "
                + "Other flags go on top.",
            valueName: "name"))
    var preset = NamedArgument(value: DetectionPreset.sextractor)

    @Option(
        help: ArgumentHelp(
            "Detection threshold in units of the background's RMS. Default: 1.5, or the preset's.", valueName: "sigma"))
    var threshold: Double?

    @Option(
        help: ArgumentHelp(
            "Whose RMS that is: the image's, or the filtered image's. Default: pixel, or the preset's.",
            valueName: "pixel|filtered"))
    var thresholdUnit: NamedArgument<ThresholdUnit>?

    @Option(
        name: .customLong("min-area"),
        help: ArgumentHelp("Fewest pixels of a source. Default: 5, or the preset's.", valueName: "pixels"))
    var minimumArea: Int?

    @Option(
        help: ArgumentHelp(
            "How the image is smoothed for detection: none, default (3x3 pyramid), seeing (a Gaussian as wide as the "
                + "image's stars), or the weights of a .conv file of SExtractor's. Default: default, or the preset's.",
            valueName: "name|file.conv"))
    var filter: FilterArgument?

    @Option(
        help: ArgumentHelp("Smooth with a Gaussian of this full width at half maximum.", valueName: "pixels"))
    var fwhm: Double?

    @Option(
        name: .customLong("deblend-levels"),
        help: ArgumentHelp("Levels at which blends are looked for; 1 for none. Default: 32.", valueName: "n"))
    var deblendLevels: Int?

    @Option(
        name: .customLong("deblend-contrast"),
        help: ArgumentHelp("Least share of a blend's flux that makes a source. Default: 0.005.", valueName: "share"))
    var deblendContrast: Double?

    @Option(
        help: ArgumentHelp(
            "How much of bright sources' surroundings is cleaned of doubtful ones (0.1 to 10, less cleans more), or off. "
                + "Default: 1.",
            valueName: "number"))
    var clean: CleanArgument?

    @Option(
        help: ArgumentHelp(
            "Background of the fluxes: global (the image's) or local (of an annulus around each source, too). Default: global.",
            valueName: "global|local"))
    var background: NamedArgument<BackgroundKind>?

    @Option(
        help: ArgumentHelp(
            "With --background local: thickness of the annulus. Default: 24.", valueName: "pixels"))
    var backgroundThickness: Int?

    @Option(
        help: ArgumentHelp(
            "Diameters of the circular apertures, with commas in between. Default: 10.", valueName: "pixels,..."))
    var aperture: AperturesArgument?

    @Option(
        help: ArgumentHelp(
            "Electrons per unit of the image, 0 for unknown. Default: the header's GAIN.", valueName: "gain"))
    var gain: Double?

    @Option(
        help: ArgumentHelp(
            "Flag sources with pixels of this value and above as saturated. Default: the header's SATURATE.",
            valueName: "value"))
    var saturation: Double?

    @Option(
        name: .customLong("zero-point"),
        help: ArgumentHelp("Magnitude of one unit of flux. Default: the header's, or 0.", valueName: "mag"))
    var zeroPoint: Double?

    @Option(
        help: ArgumentHelp(
            "Full width at half maximum of the stars, for whatever needs it: --filter seeing, --inject, --reference. Default: it "
                + "is measured.",
            valueName: "pixels"))
    var seeing: Double?

    @Option(help: ArgumentHelp("Side of a background mesh. Default: 64.", valueName: "pixels"))
    var mesh: Int?

    @Option(
        name: .customLong("mesh-filter"),
        help: ArgumentHelp(
            "Side of the median filter over the meshes, odd; 1 for none. Default: 3.", valueName: "meshes"))
    var meshFilter: Int?

    @Option(
        help: ArgumentHelp(
            "Side of a sector, or `full` for the whole image as one. Default: 1024.", valueName: "pixels"))
    var sector: SectorSizeArgument?

    @Option(
        help: ArgumentHelp("Width of the rim that a sector looks at beyond its own. Default: 64.", valueName: "pixels"))
    var margin: Int?

    @Option(
        help: ArgumentHelp(
            "Columns of the catalogue, with commas in between; +NAME,... for these beside the usual ones; @FILE for those of a "
                + "parameter file of SExtractor's. Beside the usual ones there are \(ColumnList.further).",
            valueName: "name,..."))
    var columns: String?

    @Option(
        help: ArgumentHelp(
            "Scan only this HDU, 0 for the primary. Default: all images in a file, without those that are weights, errors, "
                + "masks and the like by name, type or place, and without cubes where there are images.",
            valueName: "n"))
    var hdu: Int?

    /// - Parameter readsFiles: Whether options may name files: not where somebody else's request names them.
    /// - Throws: `SkyError` or `CommandFailure`, one line that names what is wrong.
    func configuration(readsFiles: Bool) throws -> ScanConfiguration {
        var configuration = preset.value.configuration
        if filter != nil, fwhm != nil { throw CommandFailure(.usage, "give --filter or --fwhm, not both") }
        set(&configuration.threshold, threshold)
        set(&configuration.thresholdUnit, thresholdUnit?.value)
        set(&configuration.minimumArea, minimumArea)
        set(&configuration.filter, try filter?.filter(readsFiles: readsFiles))
        set(&configuration.filter, fwhm.map { .gaussian(fwhm: $0) })
        set(&configuration.deblendLevels, deblendLevels)
        set(&configuration.deblendContrast, deblendContrast)
        set(&configuration.cleanParameter, clean.map(\.parameter))
        set(&configuration.apertureDiameters, aperture?.diameters)
        if backgroundThickness != nil, background?.value != .local {
            throw CommandFailure(.usage, "--background-thickness goes with --background local")
        }
        if background?.value == .local { configuration.localBackground = backgroundThickness ?? 24 }
        set(&configuration.gain, gain)
        set(&configuration.saturation, saturation.map(Optional.some))
        set(&configuration.zeroPoint, zeroPoint)
        set(&configuration.seeing, seeing.map(Optional.some))
        set(&configuration.meshSize, mesh)
        set(&configuration.meshFilterSize, meshFilter)
        set(&configuration.sectorSize, sector.map(\.size))
        set(&configuration.margin, margin)
        configuration.hdu = hdu
        try configuration.validate()
        configuration.columns = try columns.map {
            try names($0, apertures: configuration.apertureDiameters.count, readsFiles: readsFiles)
        }
        return configuration
    }

    private func names(_ text: String, apertures: Int, readsFiles: Bool) throws -> [String] {
        guard text.hasPrefix("@") else {
            do {
                return try ColumnList.names(text, apertures: apertures)
            } catch {
                throw CommandFailure(.usage, "--columns: \(error.message)")
            }
        }
        guard readsFiles else { throw CommandFailure(.usage, "--columns: files cannot be named here") }
        let path = String(text.dropFirst())
        let bytes = try OptionFile.contents(of: path, limit: ColumnList.sizeLimit)
        do {
            return try ColumnList.names(file: bytes, apertures: apertures)
        } catch {
            throw CommandFailure(.usage, "\(PrintableText.of(path)): \(error.message)")
        }
    }

    private func set<Value>(_ setting: inout Value, _ value: Value?) {
        if let value { setting = value }
    }
}

/// Which background fluxes are measured above (`BACKPHOTO_TYPE`).
enum BackgroundKind: String, CaseIterable {
    case global, local
}

/// The name of a filter that needs no number, or of a file with its weights.
struct FilterArgument: ExpressibleByArgument {
    private let name: String

    private static let filters = [DetectionFilter.none, .pyramid, .seeing]
    private static let ending = ".conv"

    init?(argument: String) {
        guard FilterArgument.filters.contains(where: { $0.name == argument }) || argument.hasSuffix(Self.ending) else {
            return nil
        }
        name = argument
    }

    /// - Throws: `SkyError` or `CommandFailure` where a file cannot be read, or has no weights in it.
    func filter(readsFiles: Bool) throws -> DetectionFilter {
        if let filter = FilterArgument.filters.first(where: { $0.name == name }) { return filter }
        guard readsFiles else { throw CommandFailure(.usage, "--filter: files cannot be named here") }
        let bytes = try OptionFile.contents(of: name, limit: ConvolutionKernel.fileLimit)
        do {
            return .kernel(try ConvolutionKernel(file: bytes))
        } catch {
            throw CommandFailure(.usage, "\(PrintableText.of(name)): \(error.message)")
        }
    }

    static var allValueStrings: [String] { filters.map(\.name) }
    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

/// A number, or `off`.
struct CleanArgument: ExpressibleByArgument {
    let parameter: Double?

    init?(argument: String) {
        guard argument == "off" || Double(argument) != nil else { return nil }
        parameter = Double(argument)
    }

    static var defaultCompletionKind: CompletionKind { .list(["off"]) }
}

/// Numbers with commas in between.
struct AperturesArgument: ExpressibleByArgument {
    let diameters: [Double]

    init?(argument: String) {
        let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        diameters = numbers.compactMap(\.self)
        guard diameters.count == numbers.count else { return nil }
    }
}

/// A number of pixels, or `full`.
struct SectorSizeArgument: ExpressibleByArgument {
    let size: Int?

    init?(argument: String) {
        guard argument == "full" || Int(argument) != nil else { return nil }
        size = Int(argument)
    }

    static var defaultCompletionKind: CompletionKind { .list(["full"]) }
}
