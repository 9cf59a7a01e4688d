import Distributed

/// The actors of this node, by name. It does not keep them alive: their owners do.
final class ActorDirectory: Sendable {
    private struct Entry {
        weak var actor: (any ClusterActor)?
        /// The methods that may be called; `nil` for all of the actor's.
        var methods: Set<String>?
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var lastNumber = 0
    }

    private let state = BriefLock(State())

    /// A name for an actor that has none of its own.
    func nextName(for type: any Any.Type) -> String {
        state.withLockedValue { state in
            state.lastNumber += 1
            return "\(type)-\(state.lastNumber)"
        }
    }

    /// - Parameter methods: those that may be called; `nil` for all.
    func add(_ actor: any ClusterActor, as name: String, only methods: Set<String>? = nil) {
        state.withLockedValue { $0.entries[name] = Entry(actor: actor, methods: methods) }
    }

    func remove(_ name: String) {
        state.withLockedValue { _ = $0.entries.removeValue(forKey: name) }
    }

    /// Removes the entry of an actor that has ended, unless another actor has its name by now.
    func removeEnded(_ name: String) {
        state.withLockedValue { state in
            guard let entry = state.entries[name], entry.actor == nil else { return }
            state.entries[name] = nil
        }
    }

    func actor(named name: String) -> (any ClusterActor)? {
        state.withLockedValue { $0.entries[name]?.actor }
    }

    /// The actor that a call is for; `nil` also where the actor may not be called by this method now.
    func actor(for target: CallTarget) -> (any ClusterActor)? {
        state.withLockedValue { state in
            guard let entry = state.entries[target.actor] else { return nil }
            return entry.methods?.contains(target.method) == false ? nil : entry.actor
        }
    }
}
