import Foundation
import Glibc
import Testing

@testable import SkyCore

@Suite final class ReadViewTests {
    /// A tree of folders, which is removed with the test.
    private struct Scratch {
        let path: String

        func file(_ name: String) -> String { path + "/" + name }
    }

    private let scratch: Scratch

    init() throws {
        var template = Array("/tmp/skycore-view-XXXXXX".utf8CString)
        let made = try #require(mkdtemp(&template).map { String(cString: $0) })
        scratch = Scratch(path: CanonicalPath.of(made))
    }

    deinit { try? FileManager.default.removeItem(atPath: scratch.path) }

    private func make(_ names: String...) {
        for name in names {
            if name.hasSuffix("/") {
                mkdir(scratch.file(String(name.dropLast())), 0o755)
            } else {
                close(open(scratch.file(name), O_WRONLY | O_CREAT, 0o644))
            }
        }
    }

    private func view(
        folders: [String], secrets: [String] = [], home: String? = nil, mounts: String = "", skipping: [String] = []
    ) -> ReadView {
        var policy = ReadPolicy()
        policy.folders = folders.map(scratch.file)
        policy.secrets = secrets.map(scratch.file)
        policy.home = home.map(scratch.file)
        return ReadView(policy, isRoot: false, mounts: mounts, skipping: Set(skipping.map(scratch.file)))
    }

    private func names(_ view: ReadView) -> [String] {
        view.entries.map { $0.hasPrefix(scratch.path) ? String($0.dropFirst(scratch.path.count + 1)) : $0 }
    }

    @Test func `a folder without secrets is allowed as a whole`() {
        make("a/", "a/x.fits")
        let view = view(folders: ["a"])
        #expect(names(view) == ["a"] && view.partial.isEmpty)
    }

    @Test func `a folder with a secret is allowed one by one, but for what leads there`() {
        make("a/", "a/1.fits", "a/b/", "a/b/cluster.key", "a/b/2.fits", "a/c/")
        symlink("/etc", scratch.file("a/link"))
        let view = view(folders: ["a"], secrets: ["a/b/cluster.key"])
        #expect(names(view) == ["a/1.fits", "a/b/2.fits", "a/c"])
        #expect(Set(view.partial.keys) == Set(["a", "a/b"].map(scratch.file)))
    }

    @Test func `a secret that does not exist yet is kept back when it does`() {
        make("a/", "a/1.fits")
        let before = view(folders: ["a"], secrets: ["a/later/cluster.key"])
        #expect(names(before) == ["a/1.fits"])
        make("a/later/", "a/later/cluster.key", "a/later/2.fits")
        let after = view(folders: ["a"], secrets: ["a/later/cluster.key"])
        #expect(names(after) == ["a/1.fits", "a/later/2.fits"])
        #expect(before != after, "a worker of before has other rules")
    }

    @Test func `a secret is kept back under its real name`() {
        make("a/", "a/real/", "a/real/cluster.key", "a/x/")
        symlink(scratch.file("a/real/cluster.key"), scratch.file("key"))
        symlink(scratch.file("a"), scratch.file("way"))
        #expect(names(view(folders: ["way"], secrets: ["key"])) == ["a/x"])
        #expect(names(view(folders: ["a/real"], secrets: ["way/real"])).isEmpty)
    }

    @Test func `private files of the home are kept back unless their folder is named`() {
        make("home/", "home/.ssh/", "home/.ssh/sky/", "home/.cache/", "home/night/")
        #expect(names(view(folders: ["home"], home: "home")) == ["home/.cache", "home/night"])
        #expect(names(view(folders: ["home/.ssh/sky"], home: "home")) == ["home/.ssh/sky"])
    }

    @Test func `everywhere is all but the system's places`() {
        make("home/", "home/.ssh/", "home/night/")
        let view = view(folders: [], secrets: ["home/night/cluster.key"], home: "home")
        #expect(!view.entries.contains { $0 == "/" || $0 == "/etc" || $0.hasPrefix("/etc/") || $0 == "/proc" })
        #expect(view.partial["/"] != nil && view.entries.contains("/usr"))
        #expect(!names(view).contains("home") && !names(view).contains("home/.ssh"))
    }

    @Test func `a folder that is mounted twice is kept back twice`() {
        make("a/", "a/secret/", "a/secret/key", "b/", "b/secret/", "b/secret/key", "b/x/")
        let root = CanonicalPath.of(scratch.path)
        let mounts = """
            20 1 8:1 / / rw - ext4 /dev/sda1 rw
            21 20 8:1 \(root)/a \(root)/b rw - ext4 /dev/sda1 rw
            """
        #expect(names(view(folders: ["b"], secrets: ["a/secret/key"], mounts: mounts)) == ["b/x"])
        #expect(names(view(folders: ["b"], secrets: ["a/secret/key"])) == ["b"], "without the second mount")
    }

    @Test func `new files, folders and mounts make another view`() {
        make("a/", "a/key")
        let first = view(folders: ["a", "later"], secrets: ["a/key"], mounts: "1 0 8:1 / / rw - ext4 x rw")
        #expect(first == view(folders: ["a", "later"], secrets: ["a/key"], mounts: "1 0 8:1 / / rw - ext4 x rw"))
        #expect(first != view(folders: ["a", "later"], secrets: ["a/key"], mounts: "2 0 8:2 / / rw - ext4 x rw"))
        make("a/new.fits")
        let second = view(folders: ["a", "later"], secrets: ["a/key"], mounts: "1 0 8:1 / / rw - ext4 x rw")
        #expect(first != second)
        make("later/")
        #expect(second != view(folders: ["a", "later"], secrets: ["a/key"], mounts: "1 0 8:1 / / rw - ext4 x rw"))
    }

    @Test func `mounts are matched by their file system and its folders`() {
        let table = MountTable(
            """
            20 1 8:1 / / rw - ext4 /dev/sda1 rw
            21 20 8:2 / /data rw - ext4 /dev/sdb1 rw
            22 20 8:1 /srv/skynode /mnt/with\\040blank rw - ext4 /dev/sda1 rw
            23 20 8:2 /images /pub rw - ext4 /dev/sdb1 rw
            24 20 8:1 / /host rw - ext4 /dev/sda1 rw
            """)
        #expect(table.aliases(of: "/srv/skynode/key") == ["/mnt/with blank/key", "/host/srv/skynode/key"])
        #expect(table.aliases(of: "/mnt/with blank/key") == ["/srv/skynode/key", "/host/srv/skynode/key"])
        #expect(table.aliases(of: "/data/images/a") == ["/pub/a"])
        #expect(table.aliases(of: "/data/keys/a").isEmpty)
        #expect(table.aliases(of: "/srv/skynodes") == ["/host/srv/skynodes"])
    }
}
