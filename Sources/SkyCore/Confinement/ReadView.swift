import Glibc
import Transport

/// What a policy means on this machine at one moment.
struct ReadView: Hashable, Sendable {
    /// What may be read: files, and folders with everything in them.
    private(set) var entries: [String] = []
    /// The folders of which only entries may be read, and what was in them. A file that was put there later cannot be read.
    private(set) var partial: [String: [ListedEntry]] = [:]
    /// The folders of the policy that do not exist.
    private(set) var missing: [String] = []
    /// The mounts. A rule for a folder does not hold for what is mounted there later.
    private let mounts: String

    /// - Parameters:
    ///   - skipped: folders that do not answer, and are left out.
    ///   - progress: is called before each place is looked at.
    init(
        _ policy: ReadPolicy, isRoot: Bool = geteuid() == 0,
        mounts: String = KernelText.of("/proc/self/mountinfo") ?? "", skipping skipped: Set<String> = [],
        progress: (String) -> Void = { _ in }
    ) {
        self.mounts = mounts
        let table = MountTable(mounts)
        let roots = policy.folders.map(CanonicalPath.of)
        let secrets = policy.secrets.map(CanonicalPath.of)
        let privates = ReadPolicy.privatePlaces(home: policy.home, isRoot: isRoot).map(CanonicalPath.of).filter {
            place in
            // A folder that was named is meant.
            !roots.contains { CanonicalPath.ancestors(of: $0).contains(place) || $0 == place }
        }
        let kept = Set((secrets + privates).flatMap { [$0] + table.aliases(of: $0) })
        let leading = Set(kept.flatMap(CanonicalPath.ancestors))
        let walk = Walk(kept: kept, leading: leading, skipped: skipped)
        for root in roots.isEmpty ? ["/"] : roots {
            guard kept.isDisjoint(with: CanonicalPath.ancestors(of: root)) else { continue }
            if access(root, F_OK) == 0 { add(root, walk, progress) } else { missing.append(root) }
        }
        if roots.isEmpty {
            for place in ReadPolicy.imagePlaces where !kept.contains(place) {
                if access(place, F_OK) == 0 { add(place, walk, progress) } else { missing.append(place) }
            }
        }
    }

    private struct Walk {
        /// What is kept back.
        let kept: Set<String>
        /// The folders on the way there.
        let leading: Set<String>
        let skipped: Set<String>
    }

    private mutating func add(_ path: String, _ walk: Walk, _ progress: (String) -> Void) {
        guard !walk.kept.contains(path), !walk.skipped.contains(path) else { return }
        guard walk.leading.contains(path) else { return entries.append(path) }
        progress(path)
        let names = ListedEntry.all(in: path) ?? []
        partial[path] = names
        // What a symbolic link leads to has a rule of its own, or none.
        for entry in names where entry.kind != .other {
            add(path == "/" ? "/" + entry.name : path + "/" + entry.name, walk, progress)
        }
    }
}
