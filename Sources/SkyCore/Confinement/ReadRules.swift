import Base
import Glibc
package import Logging
import NIOConcurrencyHelpers
import Transport

/// Makes the rulesets of a node's workers, and makes a new one when the machine's folders or mounts have changed.
///
/// The daemon makes them and not each worker, because a folder that does not answer, such as that of a file server that is gone,
/// must not keep a worker from starting.
package actor ReadRules {
    /// A ruleset, and the state of the folders that it was made for.
    struct Rules: Sendable {
        let number: Int
        let ruleset: LandlockRuleset
        let view: ReadView
    }

    private let policy: ReadPolicy
    private let version: Int
    private let logger: Logger
    private var rules: Rules? {
        didSet { published.withLockedValue { [number = rules?.number] in $0 = number } }
    }
    private let published = NIOLockedValueBox<Int?>(nil)

    /// The number of the rules that a worker should have; `nil` if a new one gets new rules, and on a machine without Landlock.
    nonisolated var number: Int? { published.withLockedValue { $0 } }

    private var making: Task<Rules?, Never>?
    /// Folders that did not answer. They are tried again when the folders or mounts have changed, and after a while.
    private var silent: Set<String> = []
    private var lastTry = ContinuousClock.now

    /// - Parameter support: what the kernel has.
    package init(_ policy: ReadPolicy, support: ConfinementSupport = .ofThisMachine, logger: Logger) {
        (self.policy, version, self.logger) = (policy, support.landlock, logger)
    }

    /// The rules for a worker that is started now; `nil` on a machine without Landlock.
    ///
    /// - Throws: `SkyError` if the kernel has Landlock and does not take the rules. A worker must not start without them then.
    func current() async throws(SkyError) -> Rules? {
        guard version > 0 else { return nil }
        if let rules { return rules }
        return try await renewed()
    }

    /// Whether a worker that has the rules cannot read what a new worker could. Then the next worker gets new rules.
    func isOutdated(_ number: Int?) async -> Bool {
        guard let number, let rules else { return false }
        // Another task has found it out before.
        if rules.number != number { return true }
        if !silent.isEmpty, ContinuousClock.now - lastTry >= ReadRules.retryInterval {
            self.rules = nil
            return true
        }
        let (policy, silent) = (policy, silent)
        let view = await DetachedThread.result(within: ReadRules.patience) { ReadView(policy, skipping: silent) }
        guard let view, view != rules.view, self.rules?.number == number else {
            return self.rules?.number != number
        }
        self.rules = nil
        return true
    }

    private var lastNumber = 0

    private func renewed() async throws(SkyError) -> Rules {
        let task = making ?? Task { await self.made() }
        making = task
        let made = await task.value
        if making == task { making = nil }
        guard let made else { throw SkyError(.failed, "the kernel does not take the rules for a worker (Landlock)") }
        return made
    }

    private func made() async -> Rules? {
        silent = []
        lastTry = .now
        while true {
            let attempt = RulesetAttempt(policy, version: version, skipping: silent)
            switch await attempt.end(within: ReadRules.patience) {
            case .made(let ruleset, let view):
                lastNumber += 1
                let new = Rules(number: lastNumber, ruleset: ruleset, view: view)
                rules = new
                return new
            case .failed(let error):
                logger.error("workers cannot be confined: \(error)")
                return nil
            case .silent(let place):
                logger.warning(
                    "a folder does not answer, and workers cannot read in it until it does",
                    metadata: ["folder": "\(PrintableText.of(place))"])
                guard silent.insert(place).inserted else { return nil }
            }
        }
    }

    /// How long one folder may take to answer. An automounter's and a file server's do it in well under a second.
    private static let patience = Duration.seconds(2)
    /// So long a folder that does not answer is left alone. Each try may leave a thread that waits for it.
    private static let retryInterval = Duration.seconds(60)
}

/// One attempt to make a ruleset, in a thread of its own.
private final class RulesetAttempt: Sendable {
    enum End: Sendable {
        case made(LandlockRuleset, ReadView)
        case failed(SkyError)
        /// A folder does not answer. The thread waits for it, and ends when it does.
        case silent(String)
    }

    private struct State {
        var place = "/"
        var count = 0
        var end: End?
    }
    private let state = NIOLockedValueBox(State())
    private let isOver = Latch()

    init(_ policy: ReadPolicy, version: Int, skipping skipped: Set<String>) {
        let hasThread = DetachedThread.start { [self] in
            let end = make(policy, version, skipped)
            state.withLockedValue { $0.end = end }
            isOver.open()
        }
        if !hasThread {
            state.withLockedValue { $0.end = .failed(SkyError(.failed, "there is no thread for it")) }
            isOver.open()
        }
    }

    private func make(_ policy: ReadPolicy, _ version: Int, _ skipped: Set<String>) -> End {
        do throws(SkyError) {
            let ruleset = try LandlockRuleset(version: version)
            let view = ReadView(policy, skipping: skipped) { visit($0) }
            for entry in view.entries where !skipped.contains(entry) {
                visit(entry)
                ruleset.allow(entry, .read)
            }
            if let inputs = policy.inputs { ruleset.allow(inputs, .read) }
            for path in ReadPolicy.runtimeFiles { ruleset.allow(path, path == "/proc" ? .readFiles : .read) }
            return .made(ruleset, view)
        } catch {
            return .failed(error)
        }
    }

    private func visit(_ place: String) {
        state.withLockedValue { state in
            state.place = place
            state.count += 1
        }
    }

    /// How the attempt ends.
    ///
    /// - Parameter patience: how long each place may take.
    func end(within patience: Duration) async -> End {
        var seen = -1
        while true {
            await isOver.wait(atMost: patience)
            let (end, place, count) = state.withLockedValue { ($0.end, $0.place, $0.count) }
            if let end { return end }
            // A task that is cancelled does not wait.
            if Task.isCancelled { return .failed(SkyError(.failed, "stopped")) }
            if count == seen { return .silent(place) }
            seen = count
        }
    }
}
