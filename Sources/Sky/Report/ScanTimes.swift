/// Where the time of a scan went, for its report.
package struct ScanTimes: Sendable {
    /// A step on the way from the command to its files, one after the other.
    package struct Step: Sendable {
        package var name: String
        package var seconds: Double
        /// Who did it, or what it is.
        package var note: String
        /// Whether it ran beside another one, which took longer.
        package var isBeside: Bool

        package init(name: String, seconds: Double, note: String, isBeside: Bool) {
            (self.name, self.seconds, self.note, self.isBeside) = (name, seconds, note, isBeside)
        }
    }

    /// What a node did.
    package struct Node: Sendable {
        package var name: String
        package var tasks: Int
        /// How much of the time its slots worked, such as "1.6 of 2".
        package var busy: String
        /// The seconds of work in each of `stages`.
        package var seconds: [Double]

        package init(name: String, tasks: Int, busy: String, seconds: [Double]) {
            (self.name, self.tasks, self.busy, self.seconds) = (name, tasks, busy, seconds)
        }
    }

    package var steps: [Step]
    /// The names of the stages of the nodes' work.
    package var stages: [String]
    package var nodes: [Node]
    /// What the reader has to know, a sentence each.
    package var remarks: [String]

    package init(steps: [Step], stages: [String], nodes: [Node], remarks: [String]) {
        (self.steps, self.stages, self.nodes, self.remarks) = (steps, stages, nodes, remarks)
    }
}

extension ScanTimes {
    /// A line of style that its tables need.
    static let style =
        ".bar { display: inline-block; height: 0.8em; background: #0072b2; } .beside { background: #9ecae1; }"

    /// The widest bar, in widths of a letter.
    private static let barWidth = 18.0

    /// Two tables, in HTML: the steps with bars, and what the nodes did.
    var html: String {
        var text = "<table>\n<tr><th>step</th><th>seconds</th><th></th><th></th></tr>\n"
        let longest = steps.map(\.seconds).max() ?? 0
        for step in steps {
            let width = longest > 0 ? max(0, min(step.seconds / longest, 1)) * Self.barWidth : 0
            text += "<tr><td>\(CatalogueTable.escaped(step.name))</td>\(Self.number(step.seconds))"
            text += "<td><span class=\"bar\(step.isBeside ? " beside" : "")\" style=\"width: "
            text += "\(DecimalText.fixed(width, 2))em\"></span></td>"
            text += "<td>\(CatalogueTable.escaped(step.note))</td></tr>\n"
        }
        let total = steps.reduce(0) { $0 + ($1.isBeside ? 0 : $1.seconds) }
        text += "<tr><th>together</th>\(Self.number(total))<td></td><td></td></tr>\n</table>\n"
        if !nodes.isEmpty {
            text += "<p>Seconds of work by the nodes:</p>\n<table>\n<tr><th>node</th><th>tasks</th><th>busy slots</th>"
            text += stages.map { "<th>\(CatalogueTable.escaped($0))</th>" }.joined() + "</tr>\n"
            for node in nodes {
                text += "<tr><td>\(CatalogueTable.escaped(node.name))</td><td class=\"number\">\(node.tasks)</td>"
                text += "<td class=\"number\">\(CatalogueTable.escaped(node.busy))</td>"
                text += node.seconds.map(Self.number).joined() + "</tr>\n"
            }
            text += "</table>\n"
        }
        return text + remarks.map { "<p>\(CatalogueTable.escaped($0))</p>\n" }.joined()
    }

    private static func number(_ seconds: Double) -> String {
        "<td class=\"number\">\(DecimalText.fixed(seconds, 2))</td>"
    }
}
