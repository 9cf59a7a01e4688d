import Glibc

/// Real frames beside the package, which not every checkout has.
package enum RealFrames {
    package static let folder: String = {
        // The path without this file's name and folders is where the package lies.
        var parts = #filePath.split(separator: "/").map(String.init)
        parts.removeLast(4)
        return "/" + (parts + ["shared", "sky"]).joined(separator: "/")
    }()

    package static let areHere = access(folder, R_OK) == 0
    package static let comment = "real frames are not beside the package in ../shared/sky"
}
