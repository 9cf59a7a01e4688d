package import Base

extension Arithmetic {
    /// What this process measures by, from the libraries that are loaded.
    package static let current: Arithmetic = {
        let versions = Dictionary(uniqueKeysWithValues: LibraryVersions.all.map { ($0.name, $0.version) })
        // A function of each tells which file was loaded. The order never changes.
        let functions = [
            (name: "SEP", function: "sep_background"), ("WCSLIB", "wcslib_version"), ("cfitsio", "ffvers"),
            ("ERFA", "eraVersion"),
        ]
        let libraries = functions.map { name, function in
            let build = LibraryBuild.id(ofLibraryWith: function).map { "+" + $0 } ?? ""
            return (name: name.lowercased(), version: (versions[name] ?? "?") + build)
        }
        return Arithmetic(
            libraries: libraries + [(name: "libm", version: MathLibrary.mark)], architecture: architecture)
    }()

    /// On arm64 the compilers of the libraries fuse multiplications and additions, and on x86_64 they do not.
    private static var architecture: String {
        #if arch(x86_64)
            "x86_64"
        #elseif arch(arm64)
            "arm64"
        #else
            "another processor"
        #endif
    }
}
