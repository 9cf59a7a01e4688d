import Transport

/// Where the control groups of a process are found: its own and those above it, of both versions (cgroups(7)), as far as they are
/// mounted here. In a container these are often the container's own group only.
struct ControlGroupPaths {
    /// A hierarchy of groups that the process is in.
    private struct Membership {
        /// The controllers of a hierarchy of version 1; none for that of version 2, where each group says which it has.
        var controllers: [Substring]
        var path: String
    }

    private let memberships: [Membership]
    private let mounts: MountTable

    /// - Parameters:
    ///   - groups: the text of `/proc/PID/cgroup`.
    ///   - mounts: the text of `/proc/PID/mountinfo`.
    init(groups: String, mounts: String) {
        memberships = groups.split(separator: "\n").compactMap { line in
            // The path may have colons itself.
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, fields[2].hasPrefix("/") else { return nil }
            return Membership(controllers: fields[1].split(separator: ","), path: String(fields[2]))
        }
        self.mounts = MountTable(mounts)
    }

    static var ofThisProcess: ControlGroupPaths {
        ControlGroupPaths(
            groups: KernelText.of("/proc/self/cgroup") ?? "", mounts: KernelText.of("/proc/self/mountinfo") ?? "")
    }

    /// The folders of the groups that may limit the process by a controller. A group that has no file of the controller's does not
    /// limit it; and there may be folders among these that do not exist.
    func folders(of controller: String) -> [String] {
        memberships.flatMap { membership -> [String] in
            let isVersion2 = membership.controllers.isEmpty
            guard isVersion2 || membership.controllers.contains(controller[...]) else { return [] }
            let hierarchy = mounts.mounts.filter { mount in
                isVersion2
                    ? mount.kind == "cgroup2" : mount.kind == "cgroup" && mount.options.contains(controller[...])
            }
            let found = hierarchy.compactMap { folders(of: membership.path, in: $0) }
            // A group that is not below what is mounted is outside of this container. What is mounted is the nearest to see then.
            return found.isEmpty ? hierarchy.map(\.point) : found.flatMap(\.self)
        }
    }

    private func folders(of path: String, in mount: MountTable.Mount) -> [String]? {
        guard !path.split(separator: "/").contains(".."), let rest = MountTable.rest(of: path, below: mount.root) else {
            return nil
        }
        var folders = [mount.point]
        for name in rest.split(separator: "/") {
            folders.append(MountTable.joined(folders[folders.count - 1], name))
        }
        return folders.reversed()
    }
}
