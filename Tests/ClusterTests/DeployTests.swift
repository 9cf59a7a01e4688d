import Foundation
import FoundationXML
import Testing

/// Files that others read.
@Suite struct DeployTests {
    private func deploy(_ path: String) -> URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("deploy/" + path)
    }

    @Test func `avahi's service file is XML, and names the node's port`() throws {
        let document = try XMLDocument(contentsOf: deploy("avahi/skynode.service"))
        let types = try document.nodes(forXPath: "/service-group/service/type").map(\.stringValue)
        let ports = try document.nodes(forXPath: "/service-group/service/port").map(\.stringValue)
        #expect(types == ["_skynode._tcp"])
        #expect(ports == ["7420"])
    }
}
