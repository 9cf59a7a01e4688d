import Foundation
import Testing

/// A job as `skynode jobs` lists it for programs, and the simulated jobs of tests about nodes with copies.
struct ListedJob: Decodable {
    struct Copies: Decodable {
        var wanted: Int
        var kept: Int
    }

    var job: String
    var state: String
    var reason: String?
    var completed: Int
    var copies: Copies?

    /// How a node lists a job; `nil` where it does not.
    ///
    /// - Parameter options: `--here` where only the jobs of that node count.
    static func find(_ job: String, at node: String, _ options: String...) async throws -> ListedJob? {
        try await Skynode.run(["jobs", "--format", "json", "--node", node] + options).output
            .compactMap { try? JSONDecoder().decode(ListedJob.self, from: Data($0.utf8)) }.first { $0.job == job }
    }

    /// Submits simulated tasks to a node, which go on without the command.
    static func submit(_ tasks: Int, lasting duration: String = "100ms", to node: String) async throws -> String {
        let started = try await Skynode.run(
            "simulate", "--tasks", "\(tasks)", "--duration", duration, "--node", node, "--detach", "--format", "json")
        let line = try #require(started.output.first, "\(started.errors)")
        return try JSONDecoder().decode([String: String].self, from: Data(line.utf8))["job"] ?? ""
    }
}
