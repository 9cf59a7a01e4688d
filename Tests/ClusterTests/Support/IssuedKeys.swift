import Testing

/// A cluster key and credentials under it.
struct IssuedKeys {
    let folder: ScratchFolder
    var cluster: String { folder.file("cluster.key") }

    init(_ persons: [(name: String, role: String)]) async throws {
        folder = try ScratchFolder()
        #expect(try await Skynode.run("key", "new", "-o", folder.file("cluster.key")).status == 0)
        for (name, role) in persons { try await issue(name, role, as: name) }
    }

    func issue(_ name: String, _ role: String, as file: String, _ limits: [String] = []) async throws {
        let issued = try await Skynode.run(
            ["key", "issue", name, "--role", role, "--cluster-key", cluster, "-o", folder.file(file)] + limits)
        #expect(issued.status == 0 && issued.errors.isEmpty)
        let words = limits.isEmpty ? "\(role) \(name), until " : "\(role) \(name), at most "
        #expect(issued.output.first?.contains(words) == true)
    }

    /// The options with which a person's command reaches a node.
    func of(_ person: String, _ address: String) -> [String] {
        ["--cluster-key", folder.file(person), "--node", address]
    }
}
