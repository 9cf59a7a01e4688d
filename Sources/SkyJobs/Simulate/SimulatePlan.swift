import SkyCore

/// The plan of the rehearsal. All its tasks are issued at once.
struct SimulatePlan: JobPlan {
    let request: SimulateRequest

    mutating func begin() -> PlanStep {
        PlanStep(newTasks: request.tasks, isLast: true)
    }

    mutating func completed(_ task: Int, _ result: TaskResult) -> PlanStep { PlanStep() }

    mutating func failed(_ task: Int, _ reason: String, isBadInput: Bool) -> PlanStep { PlanStep() }

    var needsResults: Bool { false }

    mutating func release() {}

    /// People count from one, and so does the book.
    func label(_ number: Int) -> String? { "task \(number + 1)" }

    func task(_ number: Int) -> ScanTask? {
        guard (0..<request.tasks).contains(number) else { return nil }
        var task = ScanTask(.simulate(Simulation(duration: request.duration)), label: label(number) ?? "")
        if let every = request.failEvery { task.rehearsal.failsFirstAttempt = (number + 1) % every == 0 }
        if let every = request.crashEvery { task.rehearsal.crashesFirstAttempt = (number + 1) % every == 0 }
        task.rehearsal.poison = request.poison?[number + 1]
        return task
    }
}
