import ArgumentParser
import Base
import Glibc
import Sky
import SkyCore
import Transport

/// Whether a command may replace what the program has not made.
struct OverwriteOption: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Write over files of any kind that have the names of the results. Without it only files are replaced that skynode "
                + "has written."))
    var overwrite = false
}

/// Where a scan's results go, and in which formats.
struct OutputOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Folder to write to, made if missing; or, with a catalogue's ending, the one catalogue to write, of all images; "
                + "or - for that catalogue on standard output. Endings: \(OutputOptions.endings).",
            valueName: "folder|file|-"), completion: .file())
    var output = "."

    @Option(
        name: .customLong("format-catalogue"),
        help: ArgumentHelp(
            "Formats of the catalogues, with commas in between: \(FormatsArgument.names). Default: csv,fits,reg; csv on "
                + "standard output.",
            valueName: "format,..."), completion: .list(CatalogueFormat.allCases.map(\.rawValue)))
    var formats: FormatsArgument?

    @Option(
        name: .customLong("check-image"),
        help: ArgumentHelp(
            "Write images of what the scan saw beside the catalogue, as NAME.background.fits and so on, with commas in between: "
                + "\(CheckImagesArgument.names).",
            valueName: "name,..."), completion: .list(CheckImage.allCases.map(\.rawValue)))
    var checkImages: CheckImagesArgument?

    @OptionGroup var replacing: OverwriteOption

    private static let endings =
        ".fits, .fit, .fts, .ldac, .cat (as .ldac), .csv, .ecsv, .vot, .votable, .xml, .ndjson, .jsonl, .reg"

    /// The place to which the results go.
    ///
    /// - Parameter isFolder: whether there is a folder with a path.
    /// - Throws: `CommandFailure` where the place and the formats contradict each other, or where the name is neither that of a
    ///   catalogue nor that of a folder.
    func place(isFolder: (String) -> Bool = isFolder) throws -> OutputPlace {
        if output == "-" { return .standardOutput(try single() ?? .csv) }
        let name = output.reversed().drop { $0 == "/" }.reversed()
        let folder = OutputPlace.folder(
            name.isEmpty ? output : String(name), formats?.formats ?? [.csv, .fits, .regions])
        guard !output.hasSuffix("/"), let ending = OutputOptions.ending(output) else { return folder }
        guard let format = CatalogueFormat(path: output) ?? (ending.lowercased() == "cat" ? .ldac : nil) else {
            if isFolder(output) { return folder }
            throw CommandFailure(
                .usage,
                "--output \(PrintableText.of(output)): no catalogue ends with .\(PrintableText.of(ending)); they end with "
                    + "\(OutputOptions.endings). For a folder of that name, write \(PrintableText.of(output))/")
        }
        return .file(output, try single() ?? format)
    }

    /// The only format, where one is given; otherwise `nil`.
    private func single() throws -> CatalogueFormat? {
        guard let formats = formats?.formats else { return nil }
        guard formats.count == 1 else {
            throw CommandFailure(.usage, "--output \(PrintableText.of(output)) is one catalogue: it takes one format")
        }
        return formats[0]
    }

    /// The ending of a file's name; `nil` for a name without a dot, or with dots at its start only.
    private static func ending(_ path: String) -> String? {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), !name[..<dot].allSatisfy({ $0 == "." }) else { return nil }
        return String(name[name.index(after: dot)...])
    }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}
