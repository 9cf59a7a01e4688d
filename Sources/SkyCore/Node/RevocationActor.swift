import Base
package import Distributed
import NIOConcurrencyHelpers
import NIOPosix
package import Transport

/// Tells other nodes which credentials count no more, and hears it from them.
package distributed actor RevocationActor: ClusterActor {
    package typealias ActorSystem = ClusterSystem

    /// What peers may call. A test calls every method, so a name here that is not the compiler's is noticed.
    package static let methods = MethodTable([
        Method("exchange") { (actor: isolated RevocationActor, argument: [Revocation]) in
            await actor.exchange(argument)
        }
    ])

    package static let wellKnownName = "revocations"

    private let keeper: RevocationKeeper

    init(_ keeper: RevocationKeeper, actorSystem: ClusterSystem) {
        self.actorSystem = actorSystem
        self.keeper = keeper
    }

    /// Takes the revocations that another node knows, and returns those that are known here.
    package distributed func exchange(_ others: [Revocation]) async -> [Revocation] {
        await keeper.take(others)
        return keeper.all
    }
}

/// The revocations of a node: it keeps them through a restart, and passes on what is new.
final class RevocationKeeper: Sendable {
    private let system: ClusterSystem
    private let security: TransportSecurity
    /// The data folder, in which they are kept; `nil` where the node has none.
    private let folder: String?
    /// Is told when there is something new.
    private let news: AsyncStream<Void>
    private let newsInput: AsyncStream<Void>.Continuation
    private let writing = NIOLock()

    init(in folder: String?, system: ClusterSystem, security: TransportSecurity) {
        (self.folder, self.system, self.security) = (folder, system, security)
        (news, newsInput) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    var all: [Revocation] { system.revocations.all }

    /// Where the revocations are in a data folder.
    private static func file(in folder: String) -> String { folder + "/revocations" }

    /// What was kept in a data folder.
    ///
    /// - Throws: `SecurityError` for a file that is damaged or that somebody has changed.
    static func revocations(in folder: String, for security: TransportSecurity) throws(SecurityError) -> Revocations {
        try Revocations(contentsOf: file(in: folder), for: security)
    }

    /// Reads what was kept.
    ///
    /// - Throws: as `revocations(in:for:)`.
    func load() throws(SecurityError) {
        guard let folder else { return }
        let revocations = try RevocationKeeper.revocations(in: folder, for: security)
        system.leaveOut(revocations.ofOtherKeys, from: folder)
        system.revoke(revocations.all)
        // While keys are changed, they have got another signature, which counts longer.
        if all != revocations.all { keep(in: RevocationKeeper.file(in: folder)) }
    }

    /// Takes those that are signed with the cluster key, whoever brings them. It keeps them, and the other nodes hear of them.
    func take(_ others: [Revocation]) async {
        let known = system.revocations
        guard system.revoke(others) else { return }
        let new = system.revocations.all.filter { known.time(of: $0.name) != system.revocations.time(of: $0.name) }
        if let folder {
            let file = RevocationKeeper.file(in: folder)
            try? await NIOThreadPool.singleton.runIfActive { self.keep(in: file) }
        }
        // Whoever reads this may stop the node.
        system.logger.notice(
            "credentials were revoked", metadata: ["persons": "\(new.map(\.name).joined(separator: ", "))"])
        newsInput.yield()
    }

    private func keep(in file: String) {
        do {
            // Two calls at the same time would write the older list last.
            try writing.withLock {
                try system.revocations.write(to: file, for: security)
            }
        } catch {
            system.logger.error(
                "revocations cannot be stored; they count until this node ends",
                metadata: ["file": "\(PrintableText.of(file))", "reason": "\(PrintableText.of("\(error)"))"])
        }
    }

    /// Passes on what is new, and asks every node that joins, until it is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await _ in self.news {
                    await withDiscardingTaskGroup { group in
                        for member in self.system.members { group.addTask { await self.exchange(with: member.node) } }
                    }
                }
            }
            while !Task.isCancelled {
                for await event in system.membershipEvents() {
                    guard case .joined(let member) = event else { continue }
                    group.addTask { await self.exchange(with: member.node) }
                }
                // The sequence of events has ended, at shutdown or because this listener was far behind.
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// A node of an earlier version does not know the call, and takes no credentials either.
    private func exchange(with node: NodeID) async {
        let address = ActorAddress(node: node, name: RevocationActor.wellKnownName)
        guard let actor = try? RevocationActor.resolve(id: address, using: system),
            let others = try? await actor.exchange(all)
        else { return }
        await take(others)
    }
}

extension Node {
    /// Looks at what a start reads in the data folder, and leaves all as it is.
    ///
    /// - Returns: the revocations that are there, and whether a node uses the folder.
    /// - Throws: `JournalError` and `SecurityError`, as the start does.
    package static func check(
        _ place: JournalPlace, for security: TransportSecurity
    ) throws -> (revocations: Revocations, isInUse: Bool) {
        let isInUse = try place.isInUse()
        return (try RevocationKeeper.revocations(in: place.path, for: security), isInUse)
    }
}
