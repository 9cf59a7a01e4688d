import ArgumentParser
import Base
import Sky
import SkyCore
import Transport

/// The options that decide the catalogue. Names and defaults are those of SExtractor where it has them.
struct DetectionOptions: ParsableArguments {
    @OptionGroup(title: HelpSection.detection) var finding: FindingOptions
    @OptionGroup(title: HelpSection.photometry) var photometry: PhotometryOptions
    @OptionGroup(title: HelpSection.background) var mesh: BackgroundOptions
    @OptionGroup(title: HelpSection.output) var columnOptions: ColumnOptions
    @OptionGroup(title: HelpSection.input) var input: HDUOptions

    /// - Parameter readsFiles: Whether options may name files. They may not where the request comes from somebody else.
    /// - Throws: `SkyError` or `CommandFailure`, with one line that names the fault.
    func configuration(readsFiles: Bool) throws -> ScanConfiguration {
        var configuration = finding.preset.value.configuration
        if finding.filter != nil, finding.fwhm != nil {
            throw CommandFailure(.usage, "give --filter or --fwhm, not both")
        }
        set(&configuration.threshold, finding.threshold)
        set(&configuration.thresholdUnit, finding.thresholdUnit?.value)
        set(&configuration.minimumArea, finding.minimumArea)
        set(&configuration.filter, try finding.filter?.filter(readsFiles: readsFiles))
        set(&configuration.filter, finding.fwhm.map { .gaussian(fwhm: $0) })
        set(&configuration.deblendLevels, finding.deblendLevels)
        set(&configuration.deblendContrast, finding.deblendContrast)
        set(&configuration.cleanParameter, finding.clean.map(\.parameter))
        set(&configuration.apertureDiameters, photometry.aperture?.diameters)
        if mesh.backgroundThickness != nil, mesh.background?.value != .local {
            throw CommandFailure(.usage, "--background-thickness goes with --background local")
        }
        if mesh.background?.value == .local { configuration.localBackground = mesh.backgroundThickness ?? 24 }
        set(&configuration.gain, photometry.gain)
        set(&configuration.saturation, photometry.saturation.map(Optional.some))
        set(&configuration.zeroPoint, photometry.zeroPoint)
        set(&configuration.seeing, photometry.seeing.map(Optional.some))
        set(&configuration.meshSize, mesh.mesh)
        set(&configuration.meshFilterSize, mesh.meshFilter)
        set(&configuration.sectorSize, finding.sector.map(\.size))
        set(&configuration.margin, finding.margin)
        configuration.hdu = input.hdu
        try configuration.validate()
        configuration.columns = try columnOptions.columns.map {
            try names($0, apertures: configuration.apertureDiameters.count, readsFiles: readsFiles)
        }
        return configuration
    }

    /// The files that the options name.
    var files: [String] {
        [finding.filter?.file, columnOptions.columns.flatMap(DetectionOptions.file)].compactMap(\.self)
    }

    /// The file with the names of columns; `nil` where they are named one by one.
    private static func file(_ columns: String) -> String? {
        columns.hasPrefix("@") ? String(columns.dropFirst()) : nil
    }

    private func names(_ text: String, apertures: Int, readsFiles: Bool) throws -> [String] {
        guard let path = DetectionOptions.file(text) else {
            do {
                return try ColumnList.names(text, apertures: apertures)
            } catch {
                throw CommandFailure(.usage, "--columns: \(error.message)")
            }
        }
        guard readsFiles else { throw CommandFailure(.usage, "--columns: files cannot be named here") }
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
