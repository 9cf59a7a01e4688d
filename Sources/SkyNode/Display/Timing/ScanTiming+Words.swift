import Base
import Sky

extension ScanTiming.Step {
    /// Its name for people.
    var name: String {
        switch self {
        case .checkImages: "check images"
        case .unions: "large objects"
        case .end: "end of the job"
        case .start, .submission, .header, .background, .seeing, .sectors, .merge, .fetch, .digest, .preparation,
            .write, .draw:
            rawValue
        }
    }

    fileprivate var purpose: String {
        switch self {
        case .start: "the command finds its node, or starts one"
        case .submission: "to the coordinator, and the end's news back"
        case .header, .background, .seeing, .unions: ""
        case .sectors: "and the picture"
        case .end: "the last result is stored"
        case .merge: "the coordinator merges the sectors"
        case .fetch: "catalogue and picture come to the command"
        case .digest: "of the file, for the catalogue's header"
        case .preparation: "for the comparison, or for stars to inject"
        case .write: "catalogues"
        case .draw: "pictures and report"
        case .checkImages: "fetched and written"
        }
    }
}

extension ScanTiming.PathStep {
    /// What it is, and which node ended it.
    func note(besides other: ScanTiming.Step?) -> String {
        var parts = [step.purpose]
        if let node { parts.append(node.isEmpty ? "earlier results" : "last on \(PrintableText.of(node))") }
        if isBeside, let other { parts.append("during \(other.name)") }
        return parts.filter { !$0.isEmpty }.joined(separator: "; ")
    }
}

extension ScanTiming {
    /// The steps with their notes.
    var notedPath: [(step: PathStep, note: String)] {
        path.map { step in
            let longer: Step? = step.step == .write ? .draw : step.step == .draw ? .write : nil
            return (step, step.note(besides: longer))
        }
    }

    /// How many slots of a node worked on average, of those that there were.
    func busyWords(_ node: NodePart) -> String {
        guard let busy = busySlots(of: node) else { return "-" }
        return "\(DurationText.fixed(busy, 1)) of \(node.slots)"
    }

    /// What has to be known to read the numbers, a sentence each.
    var remarks: [String] {
        var remarks: [String] = []
        if images > 1 {
            remarks.append("\(images) images ran side by side: the sums are longer than the time by the clock.")
        }
        if isAllCached {
            remarks.append("Everything but the header came from earlier results, which took no work.")
        } else if cached > 0 {
            remarks.append(
                "\(cached) of \(completed + cached) tasks were answered by earlier results, which took no work.")
        }
        if !isDetailed {
            remarks.append("The coordinator is of an earlier version and does not tell what nodes do.")
        }
        let unknown = completed - nodes.reduce(0) { $0 + $1.tasks }
        if isDetailed, unknown > 0 {
            remarks.append("The work of \(unknown) tasks is not known: the coordinator was started again after them.")
        }
        if isInterrupted {
            remarks.append("The coordinator was started again: the phases before that are not told apart.")
        }
        let silent = nodes.filter { !$0.isStaged && $0.seconds > 0 }.map { PrintableText.of($0.name) }
        if !silent.isEmpty {
            remarks.append("No stages are known of \(silent.joined(separator: ", ")), of an earlier version.")
        }
        return remarks
    }

    /// The name of a node, which is empty for all nodes beyond those that are told apart.
    static func name(of node: NodePart) -> String { node.name.isEmpty ? "other nodes" : PrintableText.of(node.name) }

    /// The same for the report of an image. The files are not all written when the report is.
    var forReport: ScanTimes {
        ScanTimes(
            steps: notedPath.map {
                ScanTimes.Step(
                    name: $0.step.step.name, seconds: $0.step.seconds, note: $0.note, isBeside: $0.step.isBeside)
            }, stages: ScanStage.allCases.map(\.rawValue) + ["other"],
            nodes: nodes.map { node in
                ScanTimes.Node(
                    name: ScanTiming.name(of: node), tasks: node.tasks, busy: busyWords(node),
                    seconds: ScanStage.allCases.map { node.stages[$0] ?? 0 } + [node.other])
            },
            remarks: remarks + [
                "Writing the catalogues and drawing this page and the pictures are not in it, as they had not ended when "
                    + "it was written; skynode scan --timing prints them, too."
            ])
    }
}
