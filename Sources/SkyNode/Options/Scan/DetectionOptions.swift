import ArgumentParser
import Sky
import SkyCore

/// The options that decide the catalogue. What each of them is stands in `ScanKeys`.
struct DetectionOptions: ParsableArguments {
    @OptionGroup(title: HelpSection.detection) var finding: FindingOptions
    @OptionGroup(title: HelpSection.photometry) var photometry: PhotometryOptions
    @OptionGroup(title: HelpSection.background) var mesh: BackgroundOptions
    @OptionGroup(title: HelpSection.output) var columns: ColumnOptions
    @OptionGroup(title: HelpSection.input) var input: HDUOptions

    /// What is given.
    var settings: ScanSettings {
        let given = finding.given + photometry.given + mesh.given + [columns.columns, input.hdu]
        return ScanSettings(
            Dictionary(given.compactMap { $0.map { ($0.key, $0.text) } }, uniquingKeysWith: { $1 }))
    }

    /// - Throws: `SkyError`, with one line that names the fault.
    func configuration() throws(SkyError) -> ScanConfiguration {
        try settings.configuration(reading: OptionFile.contents)
    }
}

/// How sources are found.
struct FindingOptions: ParsableArguments {
    @Option(ScanKeys.preset) var preset: ScanArgument?
    @Option(ScanKeys.threshold) var threshold: ScanArgument?
    @Option(ScanKeys.thresholdUnit) var thresholdUnit: ScanArgument?
    @Option(ScanKeys.minimumArea) var minimumArea: ScanArgument?
    @Option(ScanKeys.filter) var filter: ScanArgument?
    @Option(ScanKeys.fwhm) var fwhm: ScanArgument?
    @Option(ScanKeys.deblendLevels) var deblendLevels: ScanArgument?
    @Option(ScanKeys.deblendContrast) var deblendContrast: ScanArgument?
    @Option(ScanKeys.clean) var clean: ScanArgument?
    @Option(ScanKeys.sector) var sector: ScanArgument?
    @Option(ScanKeys.margin) var margin: ScanArgument?

    fileprivate var given: [ScanArgument?] {
        [
            preset, threshold, thresholdUnit, minimumArea, filter, fwhm, deblendLevels, deblendContrast, clean, sector,
            margin,
        ]
    }
}

/// How sources are measured.
struct PhotometryOptions: ParsableArguments {
    @Option(ScanKeys.aperture) var aperture: ScanArgument?
    @Option(ScanKeys.gain) var gain: ScanArgument?
    @Option(ScanKeys.saturation) var saturation: ScanArgument?
    @Option(ScanKeys.zeroPoint) var zeroPoint: ScanArgument?
    @Option(ScanKeys.seeing) var seeing: ScanArgument?

    fileprivate var given: [ScanArgument?] { [aperture, gain, saturation, zeroPoint, seeing] }
}

/// Which background is subtracted.
struct BackgroundOptions: ParsableArguments {
    @Option(ScanKeys.background) var background: ScanArgument?
    @Option(ScanKeys.backgroundThickness) var backgroundThickness: ScanArgument?
    @Option(ScanKeys.mesh) var mesh: ScanArgument?
    @Option(ScanKeys.meshFilter) var meshFilter: ScanArgument?

    fileprivate var given: [ScanArgument?] { [background, backgroundThickness, mesh, meshFilter] }
}

/// The columns of the catalogue.
struct ColumnOptions: ParsableArguments {
    @Option(ScanKeys.columns) var columns: ScanArgument?
}

/// Which image of a file is scanned.
struct HDUOptions: ParsableArguments {
    @Option(ScanKeys.hdu) var hdu: ScanArgument?
}

/// What is given for a key.
struct ScanArgument: Sendable {
    let key: String
    let text: String
}

extension Option where Value == ScanArgument? {
    /// The option of a key.
    init(_ key: ScanKey) {
        self.init(
            name: .customLong(key.name), help: ArgumentHelp(key.help, valueName: key.placeholder),
            completion: key.words.isEmpty ? nil : .list(key.words)
        ) { text in
            guard key.takes(text) else { throw ValidationError("it must be \(key.formWords)") }
            return ScanArgument(key: key.name, text: text)
        }
    }
}
