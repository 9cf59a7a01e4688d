import Testing

@testable import SkyCore

/// How many processors a process may use, by what the kernel's files say.
@Suite struct ProcessorShareTests {
    private func share(_ allowed: Int, groups: String, mounts: String, _ files: [String: String]) -> ProcessorShare {
        ProcessorShare(allowed: allowed, groups: ControlGroupPaths(groups: groups, mounts: mounts)) { files[$0] }
    }

    private let version2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
    private let version1 = """
        31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
        32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct
        34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
        41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw

        """

    @Test(arguments: [
        ("50000 100000", 1), ("149999 100000", 1), ("150000 100000", 2), ("250000 100000", 3), ("1000 100000", 1),
        ("800000 100000", 8), ("9000000 100000", 8), ("max 100000", 8), ("-1 100000", 8), ("0 100000", 8),
        ("50000 0", 8), ("", 8), ("max", 8), ("nonsense 5", 8), ("inf 1", 8), ("1 2 3", 8),
    ]) func `a quota counts as the nearest whole number of processors, and as one at least`(text: String, count: Int) {
        let share = share(8, groups: "0::/a\n", mounts: version2, ["/sys/fs/cgroup/a/cpu.max": text + "\n"])
        #expect(share.count == count)
        #expect((share.limit(ofMachine: 8) == nil) == (count == 8))
    }

    @Test func `the smallest quota of a group and of those above it counts`() {
        let groups = "0::/machine.slice/box.service/daemon\n"
        let files = [
            "/sys/fs/cgroup/machine.slice/box.service/daemon/cpu.max": "max 100000\n",
            "/sys/fs/cgroup/machine.slice/box.service/cpu.max": "600000 100000\n",
            "/sys/fs/cgroup/machine.slice/cpu.max": "300000 100000\n", "/sys/fs/cgroup/other/cpu.max": "100000 100000",
        ]
        #expect(share(8, groups: groups, mounts: version2, files).count == 3)
        #expect(share(2, groups: groups, mounts: version2, files).count == 2, "affinity is less")
    }

    @Test func `groups of version 1 are found by their controller, also beside version 2`() {
        let groups = "4:memory:/m\n3:cpuset:/\n2:cpu,cpuacct:/docker/a:b\n1:name=systemd:/x\n0::/x\n"
        let files = [
            "/sys/fs/cgroup/cpu,cpuacct/docker/a:b/cpu.cfs_quota_us": "-1\n",
            "/sys/fs/cgroup/cpu,cpuacct/docker/a:b/cpu.cfs_period_us": "100000\n",
            "/sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us": "25000\n",
            "/sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_period_us": "12500\n",
        ]
        #expect(share(8, groups: groups, mounts: version1, files).count == 2)
        let both = files.merging(["/sys/fs/cgroup/unified/x/cpu.max": "100000 100000"]) { $1 }
        #expect(share(8, groups: groups, mounts: version1, both).count == 1)
    }

    /// Without a namespace of control groups, a container sees the path of the whole machine and only its own group mounted.
    @Test func `a container sees its own group where that is mounted`() {
        let groups = "5:cpu,cpuacct:/kubepods/pod1/c1\n0::/\n"
        let mounts = "90 80 0:29 /kubepods/pod1/c1 /sys/fs/cgroup/my\\040cpu ro - cgroup cgroup rw,cpu,cpuacct\n"
        let files = [
            "/sys/fs/cgroup/my cpu/cpu.cfs_quota_us": "200000\n", "/sys/fs/cgroup/my cpu/cpu.cfs_period_us": "100000\n",
        ]
        #expect(share(8, groups: groups, mounts: mounts, files).count == 2)
        // With one, the path is that from its root.
        #expect(share(8, groups: "0::/\n", mounts: version2, ["/sys/fs/cgroup/cpu.max": "50000 100000"]).count == 1)
    }

    @Test(arguments: ["0::/../sibling\n", "0::/elsewhere/group\n"])
    func `of a group outside of what is mounted, the nearest that can be seen counts`(groups: String) {
        let mounts = "30 23 0:26 /box /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
        let files = ["/sys/fs/cgroup/cpu.max": "300000 100000", "/sys/fs/cgroup/../sibling/cpu.max": "100000 100000"]
        #expect(share(8, groups: groups, mounts: mounts, files).count == 3)
    }

    @Test(arguments: [
        ("", ""), ("0::/a\n", ""), ("", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
        ("nonsense\n0:\n::\n", "nonsense\n1 2 3\n1 2 3 / /x rw\n1 2 3 / /x rw -\n1 2 3 / /x rw - cgroup2\n"),
        ("0::/a (deleted)\n", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
    ]) func `files that are missing or damaged limit nothing`(groups: String, mounts: String) {
        #expect(share(4, groups: groups, mounts: mounts, [:]).count == 4)
        #expect(share(0, groups: groups, mounts: mounts, [:]).count == 1)
    }

    @Test func `this process may use one processor at least, and no more than there are`() {
        #expect((1...ProcessorShare.onlineProcessors).contains(ProcessorShare.ofThisProcess.count))
    }
}
