import Glibc
import SkyCore
import Transport

/// The images that a command line means: files, all FITS files of folders, and patterns that no shell has expanded.
enum ImageList {
    private static let endings = [".fits", ".fit", ".fts"].flatMap { [$0, $0 + ".gz", $0 + ".fz"] }

    /// In the order given; a folder's and a pattern's in the order of names, and a file that is meant twice only once.
    ///
    /// - Throws: `CommandFailure` for a folder or a pattern without images. What is wrong with a file is found later.
    static func expand(_ arguments: [String]) throws -> [String] {
        var images: [String] = []
        var seen: Set<String> = []
        for argument in arguments {
            for image in try expand(argument) where seen.insert(resolved(image)).inserted { images.append(image) }
        }
        return images
    }

    private static func resolved(_ path: String) -> String {
        guard let whole = realpath(path, nil) else { return path }
        defer { free(whole) }
        return String(cString: whole)
    }

    private static func expand(_ argument: String) throws -> [String] {
        var status = stat()
        if stat(argument, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFDIR else { return [argument] }
            let found = images(in: argument)
            guard !found.isEmpty else {
                throw CommandFailure(.usage, "\(PrintableText.of(argument)): a folder without FITS images")
            }
            return found
        }
        guard argument.contains(where: { "*?[".contains($0) }) else { return [argument] }
        let found = matches(argument).filter { !OutputPlace.isCatalogue($0) }
        guard !found.isEmpty else {
            throw CommandFailure(.usage, "\(PrintableText.of(argument)): no file has such a name")
        }
        return found
    }

    /// Files with a FITS file's ending, without the catalogues that this program writes.
    private static func images(in folder: String) -> [String] {
        guard let handle = opendir(folder) else { return [] }
        defer { closedir(handle) }
        var names: [String] = []
        while let entry = readdir(handle) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            let lower = name.lowercased()
            if !name.hasPrefix("."), endings.contains(where: lower.hasSuffix) { names.append(name) }
        }
        let prefix = folder.hasSuffix("/") ? folder : folder + "/"
        return names.sorted().map { prefix + $0 }.filter { !OutputPlace.isCatalogue($0) }
    }

    private static func matches(_ pattern: String) -> [String] {
        var result = glob_t()
        defer { globfree(&result) }
        guard glob(pattern, 0, nil, &result) == 0 else { return [] }
        return (0..<Int(result.gl_pathc)).compactMap { index in
            result.gl_pathv[index].map { String(cString: $0) }
        }
    }
}
