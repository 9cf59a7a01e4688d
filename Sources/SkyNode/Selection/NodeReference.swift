import Base
import SkyCore
import Transport

/// What a person calls a node by: its name, its id, or the id's first digits.
enum NodeReference {
    /// The node that is meant.
    ///
    /// - Throws: `CommandFailure` where there is none, or more; it names those that there are.
    static func find(_ text: String, in reports: [NodeReport]) throws -> NodeReport {
        let named = reports.filter { $0.member.name == text || $0.member.node.description == text }
        let found = named.isEmpty ? reports.filter { isBeginning(text, of: $0) } : named
        guard let report = found.first else {
            throw CommandFailure(.usage, "there is no node \(PrintableText.of(text)); \(advice(reports))")
        }
        guard found.count == 1 else {
            let ids = found.map(\.member.node.description).sorted().joined(separator: ", ")
            throw CommandFailure(
                .usage, "\(found.count) nodes are called \(PrintableText.of(text)): \(ids); name one by its id")
        }
        return report
    }

    /// The fewest digits of an id: with fewer, the text would more often be a misspelt name.
    private static let fewestDigits = 4

    private static func isBeginning(_ text: String, of report: NodeReport) -> Bool {
        text.count >= fewestDigits && report.member.node.description.hasPrefix(text.lowercased())
    }

    /// Nodes that an error names.
    private static let named = 12

    private static func advice(_ reports: [NodeReport]) -> String {
        let names = Set(reports.map(\.member.name)).sorted().map { PrintableText.of($0) }
        let rest = names.count > named ? " and \(names.count - named) more" : ""
        return names.count == 1
            ? "there is \(names[0])" : "there are \(names.prefix(named).joined(separator: ", "))\(rest)"
    }
}
