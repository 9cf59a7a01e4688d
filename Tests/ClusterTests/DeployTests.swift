import Foundation
import FoundationXML
import Testing

/// Files that others read.
@Suite struct DeployTests {
    private func deploy(_ path: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("deploy/" + path)
    }

    @Test func `the unit for several nodes is the unit for one, but for its names`() throws {
        func lines(_ path: String) throws -> [Substring] {
            try String(contentsOf: deploy(path), encoding: .utf8).split(separator: "\n")
        }
        let (one, several) = (try lines("systemd/skynode.service"), try lines("systemd/skynode@.service"))
        #expect(one.count == several.count)
        let different = zip(one, several).filter { $0 != $1 }.map(\.1)
        let names = ["#", "Description=", "ExecStart=", "StateDirectory=", "RuntimeDirectory="]
        #expect(different.count == names.count, "\(different)")
        for (line, name) in zip(different, names) {
            #expect(line.hasPrefix(name) && (name == "#" || line.contains("%i")))
        }
    }

    @Test func `avahi's service file is XML, and names the node's port`() throws {
        let document = try XMLDocument(contentsOf: deploy("avahi/skynode.service"))
        let types = try document.nodes(forXPath: "/service-group/service/type").map(\.stringValue)
        let ports = try document.nodes(forXPath: "/service-group/service/port").map(\.stringValue)
        #expect(types == ["_skynode._tcp"])
        #expect(ports == ["7420"])
    }
}
