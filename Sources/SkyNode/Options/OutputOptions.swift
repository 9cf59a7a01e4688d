import ArgumentParser
import SkyCore

/// Where a scan's results go, and in which formats.
struct OutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Folder to write to, made if missing; or, with a catalogue's ending (\(OutputOptions.endings)), the one "
                + "catalogue to write, of all images.",
            valueName: "folder|file"))
    var output = "."

    @Option(
        name: .customLong("format-catalogue"),
        help: ArgumentHelp(
            "Formats of the catalogues, with commas in between: \(OutputOptions.names). Default: csv,fits,reg.",
            valueName: "format,..."))
    var formats: FormatsArgument?

    private static let names = CatalogueFormat.allCases.map(\.rawValue).joined(separator: ", ")
    private static let endings = ".fits, .ldac, .csv, .ecsv, .vot, .ndjson, .reg"

    /// - Throws: `CommandFailure` where the two do not go together.
    func place() throws -> OutputPlace {
        guard let format = CatalogueFormat(path: output), !output.hasSuffix("/") else {
            return .folder(output, formats?.formats ?? [.csv, .fits, .regions])
        }
        guard let formats = formats?.formats else { return .file(output, format) }
        guard formats.count == 1 else {
            throw CommandFailure(.usage, "--output names one file: it takes one format")
        }
        return .file(output, formats[0])
    }
}

/// Names of formats with commas in between.
struct FormatsArgument: ExpressibleByArgument {
    let formats: [CatalogueFormat]

    init?(argument: String) {
        let names = argument.split(separator: ",", omittingEmptySubsequences: false)
        var formats: [CatalogueFormat] = []
        for name in names {
            guard let format = CatalogueFormat(rawValue: String(name)) else { return nil }
            if !formats.contains(format) { formats.append(format) }
        }
        self.formats = formats
    }
}
