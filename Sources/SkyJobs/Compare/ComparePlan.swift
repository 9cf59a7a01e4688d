import Base
import Sky
import SkyCore
import Transport

/// The plan of a comparison. All its tasks are issued at once.
struct ComparePlan: JobPlan {
    let request: CompareRequest
    /// The results of the tasks that are done, by task.
    private(set) var parts: [Int: ComparedPart] = [:]

    init(_ request: CompareRequest) { self.request = request }

    mutating func begin() -> PlanStep { PlanStep(newTasks: request.work.count, isLast: true) }

    var holder: NodeID? { request.new.reference.holder?.id }

    func task(_ number: Int) -> ScanTask? {
        guard request.work.indices.contains(number), let label = label(number) else { return nil }
        return ScanTask(.compare(request.new, request.old, request.work[number]), label: label)
    }

    func label(_ number: Int) -> String? {
        guard request.work.indices.contains(number) else { return nil }
        switch request.work[number] {
        case .difference(let order): return "difference \(order.sector.index + 1)"
        case .cutouts: return "cut-outs \(number + 1)"
        }
    }

    func consequence(ofFailed number: Int) -> String? {
        guard request.work.indices.contains(number), case .difference(let order) = request.work[number] else {
            return nil
        }
        let core = order.sector.core
        return "columns \(core.x + 1) to \(core.right), rows \(core.y + 1) to \(core.bottom) are not compared"
    }

    func accepts(_ number: Int, _ result: TaskResult) -> Bool {
        guard request.work.indices.contains(number), case .compared(let part)? = result.value as? CompareResult
        else { return false }
        switch (request.work[number], part) {
        case (.difference(let order), .difference(let found)): return found.isSound(of: order)
        case (.cutouts(let changes, _), .cutouts(let pictures)):
            return pictures.count == changes.count && pictures.allSatisfy(\.isSound)
        default: return false
        }
    }

    mutating func completed(_ task: Int, _ result: TaskResult) -> PlanStep {
        guard accepts(task, result), case .compared(let part)? = result.value as? CompareResult else {
            return PlanStep(abort: SkyError(.failed, "a node answered another question than it was asked"))
        }
        parts[task] = part
        return PlanStep()
    }

    mutating func failed(_ task: Int, _ reason: String, isBadInput: Bool) -> PlanStep {
        // A file that cannot be read here cannot be read for any other task either. If only a sector is missing, its place
        // can be named.
        isBadInput ? PlanStep(abort: SkyError(.badInput, reason)) : PlanStep()
    }

    var needsResults: Bool { true }

    mutating func release() { parts = [:] }

    var results: any JobResults { ComparedParts(parts: parts.sorted { $0.key < $1.key }.map(\.value)) }
}

/// The results of a comparison, in the order of its parts. Parts that failed are left out.
struct ComparedParts: JobResults {
    var parts: [ComparedPart]

    var byteCount: Int {
        parts.reduce(1024) { sum, part in
            switch part {
            case .difference(let result): sum + result.candidates.count * 128 + (result.planes?.byteCount ?? 0)
            case .cutouts(let pictures): sum + pictures.reduce(0) { $0 + $1.byteCount }
            }
        }
    }
}
