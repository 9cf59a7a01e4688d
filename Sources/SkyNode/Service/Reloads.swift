import Logging
import NIOConcurrencyHelpers
import SkyCore
import Transport

/// Reads the configuration again when it is told to, gives the node what has changed, and says what it cannot take over.
final class Reloads<Command: ConfiguredCommand>: Sendable {
    private struct State {
        var last: ConfiguredArguments
        var grace: Duration
        var handOver: HandOver
        var slots: Int
    }

    private let source: ConfigurationSource<Command>
    /// The configuration that the node was started with. It still holds for all that the node cannot take over.
    private let started: ConfiguredArguments
    private let state: NIOLockedValueBox<State>
    private let threshold: ServiceLogHandler.Threshold

    init(
        _ source: ConfigurationSource<Command>, now configured: ConfiguredArguments, grace: Duration,
        handOver: HandOver, slots: Int, threshold: ServiceLogHandler.Threshold
    ) {
        self.source = source
        started = configured
        state = NIOLockedValueBox(
            State(last: configured, grace: grace, handOver: handOver, slots: slots))
        self.threshold = threshold
    }

    /// How long tasks may go on when the node is to stop.
    var grace: Duration { state.withLockedValue { $0.grace } }

    /// When jobs go to other nodes.
    var handOver: HandOver { state.withLockedValue { $0.handOver } }

    func reload(_ node: Node) async {
        let logger = node.system.logger
        let change: NodeChange
        let configured: ConfiguredArguments
        do {
            let read = try source.read()
            (configured, change) = (read.configured, try read.command.changeable())
        } catch {
            let reason = (error as? CommandFailure)?.message ?? "\(error)"
            logger.error("the configuration cannot be used; the old one holds", metadata: ["reason": "\(reason)"])
            return
        }
        let taken = state.withLockedValue { state in
            defer {
                (state.last, state.grace, state.handOver) = (configured, change.grace, change.handOver)
                state.slots = change.slots
            }
            var taken = state.last.changes(to: configured).filter(\.canChange).map(\.name)
            // Where nobody says how many, they follow the processors that the process may use.
            if change.slots != state.slots, !taken.contains(ServeKeys.slots.name) { taken.append(ServeKeys.slots.name) }
            return taken
        }
        let left = started.changes(to: configured).filter { !$0.canChange }
        threshold.level = change.logLevel
        await node.change(
            slots: change.slots, retention: change.retention, limits: change.limits, copies: change.copies,
            join: change.join)
        await node.revoke(change.revocations)
        let changed = taken.isEmpty ? "nothing" : taken.joined(separator: ", ")
        logger.notice("configuration read again", metadata: ["changed": "\(changed)"])
        if !left.isEmpty {
            logger.warning(
                "some of the configuration holds from the next start on only",
                metadata: ["keys": "\(left.map(\.name).joined(separator: ", "))"])
        }
    }
}
