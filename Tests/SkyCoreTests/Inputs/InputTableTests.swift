import Base
import Testing
import Transport

@testable import SkyCore

/// Which files persons may send to a node.
struct InputTableTests {
    private typealias Upload = InputTable.Upload

    /// A node's table, of which a test asks one thing after the other.
    private final class Node {
        var table = InputTable()
        let room: InputTable.Room

        init(room: InputTable.Room = InputTable.Room(node: 1000, person: 500)) { self.room = room }

        func ask(
            _ upload: Upload, _ size: Int, together: Int? = nil, needed: Set<[UInt8]> = [], at now: Duration = .zero
        ) throws -> InputTable.Answer {
            try table.handle(upload, size: size, together: together, in: room, needed: needed, at: now)
        }

        func receive(_ count: Int, of upload: Upload) -> Bool { table.received(count, of: upload, at: .zero) }

        /// Sends a whole file.
        ///
        /// - Returns: the files that had to go.
        func send(
            _ upload: Upload, _ size: Int, needed: Set<[UInt8]> = [], at now: Duration = .zero
        ) throws -> [[UInt8]] {
            guard case .wanted(let next, let removed) = try ask(upload, size, needed: needed, at: now) else {
                return []
            }
            let isWhole = table.received(size - next, of: upload, at: now)
            #expect(isWhole)
            table.complete(upload, at: now)
            return removed
        }

        func sweep(needed: Set<[UInt8]> = [], at now: Duration) -> (files: [[UInt8]], uploads: [Upload]) {
            table.sweep(needed: needed, at: now)
        }
    }

    private func upload(_ owner: String, _ number: UInt8) -> Upload { Upload(owner: owner, digest: [number]) }

    @Test func `a file comes in parts, and whoever asks hears which is wanted next`() throws {
        let node = Node()
        let file = upload("alice", 1)
        #expect(try node.ask(file, 300) == .wanted(from: 0, removing: []))
        #expect(!node.receive(200, of: file))
        #expect(try node.ask(file, 300) == .wanted(from: 200, removing: []))
        #expect(throws: SkyError.self) { try node.ask(file, 301) }
        #expect(node.receive(.max, of: file), "never more than the file has")
        node.table.complete(file, at: .zero)
        #expect(try node.ask(file, 300) == .whole)
        #expect(try node.ask(upload("bob", 1), 300) == .whole)
        #expect(node.table.held == 300)
    }

    @Test func `what a person used longest ago makes room for their next file, and what a job needs stays`() throws {
        let node = Node()
        for number in 1...2 {
            #expect(try node.send(upload("alice", UInt8(number)), 200, at: .seconds(number)).isEmpty)
        }
        #expect(try node.send(upload("alice", 3), 200, at: .seconds(3)) == [[1]])
        #expect(try node.send(upload("alice", 4), 200, needed: [[2]], at: .seconds(4)) == [[3]])
        let needed: Set<[UInt8]> = [[2], [4]]
        #expect(throws: PassingRefusal.self) { try node.send(upload("alice", 5), 200, needed: needed) }
        #expect(throws: SkyError.self) { try node.send(upload("alice", 5), 501) }
        #expect(Set(node.table.stored.keys) == needed)
    }

    @Test func `nobody drives out what others are using, but the node's room is one`() throws {
        let node = Node()
        for (number, name) in ["alice", "bob"].enumerated() {
            _ = try node.send(upload(name, UInt8(number)), 450, at: .seconds(number))
        }
        #expect(throws: PassingRefusal.self) { try node.send(upload("carol", 7), 400, needed: [[0], [1]]) }
        #expect(try node.send(upload("carol", 7), 400, needed: [[1]]) == [[0]])
    }

    @Test func `few files come at the same time, and what stops is forgotten`() throws {
        let node = Node(room: InputTable.Room(node: .max / 4, person: .max / 4))
        for number in 0..<InputTable.uploadLimitOfPerson { _ = try node.ask(upload("alice", UInt8(number)), 9) }
        #expect(throws: PassingRefusal.self) { try node.ask(upload("alice", 99), 9) }
        _ = try node.ask(upload("bob", 99), 9, at: .seconds(1))
        #expect(node.sweep(at: InputTable.patience).uploads.count == InputTable.uploadLimitOfPerson)
        #expect(node.table.uploads.keys.map(\.owner) == ["bob"])
    }

    @Test func `what a command holds stays until it is released, or the command has said nothing for a minute`() throws
    {
        let node = Node()
        let (one, other) = (NodeID.random(), NodeID.random())
        node.table.hold([[1], [2]], by: one, at: .zero)
        for number in 1...2 { _ = try node.send(upload("alice", UInt8(number)), 200) }
        #expect(throws: PassingRefusal.self) { try node.send(upload("alice", 3), 200, at: .seconds(1)) }
        // The other command needs the first file, too.
        node.table.hold([[1]], by: other, at: .seconds(1))
        node.table.hold([], by: one, at: .seconds(2))
        #expect(try node.send(upload("alice", 3), 200, at: .seconds(2)) == [[2]])
        node.table.hold([[1], [3]], by: other, at: .seconds(40))
        #expect(throws: PassingRefusal.self) { try node.send(upload("alice", 4), 200, at: .seconds(99)) }
        #expect(try node.send(upload("alice", 4), 200, at: .seconds(40) + InputTable.holdTime) == [[1]])
    }

    @Test func `files of one job for which there is never room are refused for good`() throws {
        let node = Node()
        #expect(throws: SkyError.self) { try node.ask(upload("alice", 1), 300, together: 501) }
        #expect(try node.ask(upload("alice", 1), 300, together: 500) == .wanted(from: 0, removing: []))
    }

    @Test func `a sender that is gone takes no room after a minute, and one that digests a large file keeps it`() throws
    {
        let node = Node()
        let (gone, slow) = (upload("alice", 1), upload("alice", 2))
        for file in [gone, slow] { _ = try node.ask(file, 200) }
        node.table.hold([[2]], by: .random(), at: .seconds(30))
        #expect(node.table.endIdle(at: .seconds(59)).isEmpty)
        #expect(node.table.endIdle(at: InputTable.holdTime) == [gone])
        #expect(throws: PassingRefusal.self) { try node.ask(upload("alice", 3), 400) }
        #expect(try node.ask(upload("alice", 3), 300) == .wanted(from: 0, removing: []))
    }

    @Test func `a file goes a day after its last use, and none that a job needs`() throws {
        let node = Node()
        for number in 1...3 { _ = try node.send(upload("alice", UInt8(number)), 100) }
        node.table.found([4], size: 5, used: .zero)
        let day = InputTable.keepingTime
        _ = try node.ask(upload("bob", 2), 100, at: .seconds(5))
        #expect(Set(node.sweep(needed: [[1]], at: day).files) == [[3], [4]])
        #expect(node.sweep(at: day + .seconds(5)).files == [[2]])
        #expect(node.sweep(at: day + day).files == [[1]])
    }
}
