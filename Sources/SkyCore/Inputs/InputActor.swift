import Base
package import Distributed
package import NIOCore
package import Transport

/// A part of a file that a command sends to a node, because it lies on the command's machine only.
package struct InputPart: Codable, Sendable {
    /// SHA-256 of the whole file.
    package var digest: [UInt8]
    /// The size of the whole file in bytes.
    package var size: Int
    package var offset: Int
    /// The bytes from there on; none to ask which are wanted.
    package var bytes: ByteBuffer
    /// The size of all files together that the job needs for which this one is sent; `nil` for this one alone.
    package var together: Int?

    package init(digest: [UInt8], size: Int, offset: Int = 0, bytes: ByteBuffer = ByteBuffer()) {
        (self.digest, self.size, self.offset, self.bytes) = (digest, size, offset, bytes)
    }

    /// The most bytes of one part: a call with it is not cut, and holds nobody up.
    package static let limit = 192 << 10
    /// The largest file. Images of a camera have some hundred megabytes.
    package static let sizeLimit = 16 << 30

    /// Why the part must be refused, as something that a peer sent; `nil` if nothing is wrong.
    var objection: String? {
        if digest.count != 32 { return "a digest has 32 bytes" }
        if !(1...InputPart.sizeLimit).contains(size) { return "a file has 1 to \(InputPart.sizeLimit) bytes" }
        if bytes.readableBytes > InputPart.limit { return "a part has at most \(InputPart.limit) bytes" }
        if !(0...size).contains(offset) || bytes.readableBytes > size - offset { return "the part is not in the file" }
        return nil
    }
}

/// Which bytes of a file a node wants.
package struct InputReply: Codable, Sendable {
    /// The place of the next byte; the size of the file if the node has all of it.
    package var next: Int
}

/// The files for which a command is about to submit jobs.
package struct InputHold: Codable, Sendable {
    /// SHA-256 of each file, whether it is there or not.
    package var digests: Set<[UInt8]>

    package init(_ digests: Set<[UInt8]>) { self.digests = digests }

    /// The most files. A command has some dozen submissions under way, each with a few files.
    package static let limit = 1024

    /// Why it must be refused, as something that a peer sent; `nil` if nothing is wrong.
    var objection: String? {
        if digests.count > InputHold.limit { return "a command holds at most \(InputHold.limit) files" }
        return digests.allSatisfy { $0.count == 32 } ? nil : "a digest has 32 bytes"
    }
}

/// Which of the files that a command holds a node lacks.
package struct InputHeld: Codable, Sendable {
    package var missing: Set<[UInt8]>
}

/// Takes files that lie on the machine of a command only.
package distributed actor InputActor: ClusterActor {
    package typealias ActorSystem = ClusterSystem

    /// What peers may call. A test calls every method, so a name here that is not the compiler's is noticed.
    package static let methods = MethodTable(
        [
            Method("put", for: .user) { (actor: isolated InputActor, argument: InputPart) in
                try await actor.put(argument)
            },
            Method("hold", for: .user) { (actor: isolated InputActor, argument: InputHold) in
                try await actor.hold(argument)
            },
        ], errors: [PassingRefusal.declared])

    package static let wellKnownName = "inputs"

    private let store: InputStore

    init(_ store: InputStore, actorSystem: ClusterSystem) {
        self.actorSystem = actorSystem
        self.store = store
    }

    /// Takes a part of a file, if it is the one that is wanted next, and says which is wanted then.
    ///
    /// - Throws: `SkyError` where the file cannot be taken, `PassingRefusal` where there is no room for it now.
    package distributed func put(_ part: InputPart) async throws -> InputReply {
        // Parts are checked only here.
        if let objection = part.objection {
            throw SkyError(.badInput, "a part of a file that makes no sense: \(objection)")
        }
        let person = CallOrigin.person
        return InputReply(next: try await store.put(part, of: person?.name ?? "", limit: person?.limits.bytes))
    }

    /// Keeps files for the caller's next jobs, for a minute from now on. Those that the caller held before and that are not among them
    /// are held no more.
    ///
    /// - Throws: `SkyError` for what no command sends.
    package distributed func hold(_ hold: InputHold) async throws -> InputHeld {
        if let objection = hold.objection { throw SkyError(.badInput, objection) }
        return InputHeld(missing: await store.hold(hold.digests, by: CallOrigin.peer))
    }
}
