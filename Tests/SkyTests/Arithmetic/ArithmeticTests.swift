import Base
import Foundation
import Testing

@testable import Sky

/// What decides the numbers of results besides their input.
struct ArithmeticTests {
    @Test func `it names the release, the libraries that are loaded, and the architecture`() {
        let parts = Arithmetic.current.text.components(separatedBy: ", ")
        #expect(parts.first == SkyNetVersion.series)
        let names = parts.dropFirst().map { $0.prefix { $0 != " " } }
        #expect(names.dropLast() == ["sep", "wcslib", "cfitsio", "erfa", "libm"])
        #expect(["x86_64", "arm64"].contains(parts.last))
        for (name, version) in LibraryVersions.all {
            #expect(parts.contains { $0.hasPrefix("\(name.lowercased()) \(version)+") }, "with the build")
            #expect(version.first?.isNumber == true)
        }
        #expect(Arithmetic.current.text.utf8.count < 128, "a hello takes 255 bytes")
    }

    /// `file -L` and `readelf -n` print the whole of it.
    @Test func `a library's build is the one that its file has`() throws {
        let places = ["x86_64", "aarch64"].map { name -> String in "/usr/lib/\(name)-linux-gnu/libsep.so.0" }
        let path = try #require(places.first { FileManager.default.fileExists(atPath: $0) })
        let note = Data([4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0]) + Data("GNU\u{0}".utf8)
        let file = try Data(contentsOf: URL(fileURLWithPath: path))
        let place = try #require(file.range(of: note))
        #expect(
            LibraryBuild.id(ofLibraryWith: "sep_background")
                == HexText.of(file[place.upperBound..<place.upperBound + 4]))
        #expect(LibraryBuild.id(ofLibraryWith: "no_such_function") == nil)
    }

    @Test func `the mark of the mathematical functions is eight digits`() {
        #expect(MathLibrary.mark.utf8.count == 8 && MathLibrary.mark.allSatisfy(\.isHexDigit))
    }

    @Test func `a difference is told by the parts that differ`() {
        let own = Arithmetic(libraries: [("sep", "1.2.1"), ("erfa", "2.0.0")], architecture: "x86_64")
        let other = Arithmetic(libraries: [("sep", "1.4.1"), ("erfa", "2.0.0")], architecture: "arm64")
        #expect(other.difference(from: own) == "sep 1.4.1, arm64; here sep 1.2.1, x86_64")
        for odd in ["", ",", "x86_64, sep 1.2.1", "\(own.text), png 1.6"] {
            #expect(Arithmetic(odd).difference(from: own) == "\(odd); here \(own.text)", "\(odd)")
        }
    }
}
