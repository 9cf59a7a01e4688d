import Testing

@testable import SkyCore

/// Whether somebody else can put another folder in the place of one.
@Suite struct FolderTrustTests {
    private typealias Entry = FolderTrust.Entry

    private func objection(_ path: String, user: UInt32 = 1000, root: UInt32 = 0, _ tree: [String: Entry]) -> String? {
        let tree = tree.merging(["/": Entry(owner: root)]) { own, _ in own }
        return FolderTrust(user: user, isOwnGroup: { $0 == 1000 }, look: { tree[$0] }).objection(to: path)
    }

    private func home(_ changed: [String: Entry] = [:]) -> [String: Entry] {
        [
            "/home": Entry(owner: 0), "/home/ada": Entry(owner: 1000, group: 1000, mode: 0o775),
            "/home/ada/.local": Entry(owner: 1000),
        ].merging(changed) { $1 }
    }

    @Test func `a home of one's own is safe, also what is still to be made in it`() {
        #expect(objection("/home/ada/.local/state/skynode", home()) == nil)
        #expect(objection("/home/./ada//.local/../.local", home()) == nil)
        #expect(objection("/home/ada", user: 0, home(["/home/ada": Entry(owner: 0)])) == nil)
    }

    @Test(arguments: [
        ("/home/ada/.local", Entry(owner: 1001), "belongs to user 1001"),
        ("/home/ada", Entry(owner: 1000, mode: 0o777), "every user can write"),
        ("/home", Entry(owner: 0, group: 50, mode: 0o775), "the users of group 50 can write"),
        ("/home", Entry(owner: 65_534), "belongs to user 65534"),
        ("/", Entry(owner: 0, mode: 0o757), "every user can write to /"),
        ("/home/ada/.local", Entry(target: "/tmp/x", owner: 1001), "/home/ada/.local belongs to user 1001"),
    ]) fileprivate func `a folder above that others can replace is named`(
        place: String, entry: FolderTrust.Entry, words: String
    ) {
        #expect(objection("/home/ada/.local/state", home([place: entry]))?.contains(words) == true)
    }

    @Test func `in a folder with the sticky bit only one's own entries are safe`() {
        let shared = ["/tmp": Entry(owner: 0, mode: 0o1777)]
        #expect(objection("/tmp/new", shared) == nil)
        #expect(objection("/tmp/own/x", shared.merging(["/tmp/own": Entry(owner: 1000)]) { $1 }) == nil)
        #expect(objection("/tmp/own/x", shared.merging(["/tmp/own": Entry(owner: 1)]) { $1 }) != nil)
    }

    @Test func `links are followed, and what they lead through counts`() {
        let tree = home([
            "/home/ada/.local": Entry(target: "../../data/ada", owner: 1000), "/data": Entry(owner: 0),
            "/data/ada": Entry(owner: 1000),
        ])
        #expect(objection("/home/ada/.local/state", tree) == nil)
        let open = tree.merging(["/data": Entry(owner: 0, mode: 0o777)]) { $1 }
        #expect(objection("/home/ada/.local/state", open)?.contains("/data") == true)
        let circle = ["/a": Entry(target: "/b", owner: 0), "/b": Entry(target: "a", owner: 0)]
        #expect(objection("/a/x", circle)?.contains("too many links") == true)
    }

    /// There, user 0 of the machine has no number.
    @Test func `in a user namespace the owner of the root counts as root`() {
        let tree = home(["/home": Entry(owner: 65_534)])
        #expect(objection("/home/ada/.local", root: 65_534, tree) == nil)
    }
}
