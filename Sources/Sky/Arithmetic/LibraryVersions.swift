import CCFITSIO
import CERFA
import CSEP
import CWCS

/// The versions of the loaded libraries on which results depend.
package enum LibraryVersions {
    /// The name and the version of each library, by its own word.
    package static let all: [(name: String, version: String)] = [
        ("cfitsio", cfitsio), ("SEP", String(cString: sep_version_string)),
        ("WCSLIB", String(cString: wcslib_version(nil))),
        ("ERFA", String(cString: eraVersion())),
    ]

    private static var cfitsio: String {
        var version: Float = 0
        // cfitsio gives 4.0203 for version 4.2.3.
        ffvers(&version)
        let number = Int((version * 10_000).rounded())
        return "\(number / 10_000).\(number / 100 % 100).\(number % 100)"
    }
}
