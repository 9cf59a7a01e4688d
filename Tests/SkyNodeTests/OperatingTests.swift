import Foundation
import Testing

@testable import SkyNode

struct OperatingTests {
    private var root: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..").standardized
    }

    /// What is logged at notice and above, up to the first part that changes.
    private func logged() throws -> Set<String> {
        var found: Set<String> = []
        let line = /(?:logger\.(?:notice|warning|error|critical)|\bwarn)\(\s*"((?:[^"\\]|\\\([^)]*\))*)"/
        let files = FileManager.default.enumerator(
            at: root.appendingPathComponent("Sources"), includingPropertiesForKeys: nil)
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            for match in try String(contentsOf: file, encoding: .utf8).matches(of: line) {
                let parts = String(match.1).split(separator: /\\\([^)]*\)/).map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
                found.formUnion(parts.max { $0.count < $1.count }.map { [$0] } ?? [])
            }
        }
        return found
    }

    @Test func `every log line at notice and above is in the documentation, with what to do`() throws {
        let text = try String(contentsOf: root.appendingPathComponent("docs/OPERATING.md"), encoding: .utf8)
        let plain = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        // All log lines about beacons are worded in one file.
        let reports = try String(
            contentsOf: root.appendingPathComponent("Sources/Transport/Discovery/Beacons/BeaconReports.swift"),
            encoding: .utf8)
        let ofBeacons = reports.matches(of: /case .*: "([^"(\\]+)/).map {
            String($0.1).trimmingCharacters(in: .whitespaces)
        }
        #expect(ofBeacons.count >= 6)
        let lines = try logged().union(ofBeacons)
        #expect(lines.count >= 20, "they are found at all")
        for line in lines where !line.isEmpty {
            let beginning = line.split(separator: /[;:]/).first.map(String.init) ?? line
            #expect(plain.contains(beginning), "\(line)")
        }
    }

    @Test func `the documentation has every key as the program knows it`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../docs")
        let text = try String(contentsOf: folder.appendingPathComponent("OPERATING.md"), encoding: .utf8)
        #expect(text.contains(ServeKeys.table), "skynode serve --list-keys prints what belongs there")
    }
}
