import Distributed
import NIOCore
import Sky
import SkyCore
import Transport

/// The part of a node that moves pixels. It reads parts of this node's files for other nodes, and gets parts of other
/// nodes' files for this node's workers. In both cases it keeps parts for the next request, up to a number of bytes.
package actor PixelStore {
    private let system: ClusterSystem
    private let keepsParts: Bool
    /// For whom a part is kept.
    private enum Use { case ownWorkers, others }
    /// Errands are kept apart by use. Otherwise, two nodes that took each other for the holder would wait for one another.
    private struct Errand: Hashable {
        var use: Use
        var key: TileCache.Key
    }
    private var caches: [Use: TileCache]
    /// Parts on their way here. A request for a part that is already on its way waits with the first request.
    private var underWay: [Errand: Task<PixelReply, Never>] = [:]
    private var readers = Permits(PixelStore.readerLimit)
    /// Work on whole files holds up nobody who waits for a tile.
    private var workers = Permits(1)
    private var askers = Permits(PixelStore.askerLimit)
    /// Reads a part of one of this node's files; `nil` where nothing does.
    private let reader: (@Sendable (PixelRequest) async -> PixelReply)?
    /// The files that its workers could not open most recently.
    private var absent: [PixelFile] = []

    /// How many parts are read for other nodes at a time. These reads need no slot, because they take milliseconds.
    private static let readerLimit = 2
    /// How many parts may be under way to this node. It is enough to fill a link while one is read, and so few that fifty
    /// nodes do not make the node that has the file hold a hundred megabytes of answers.
    private static let askerLimit = 4
    /// How long a part may take to be read, and how long to arrive over a slow link that many share.
    static let patience = Duration.seconds(60)

    /// Bytes that are kept unless said otherwise: a 64-megapixel image of a camera, or a sixteenth of a small machine.
    package static var usualLimit: Int { min(largestUsualLimit, Int(clamping: MachineMemory.total / 16)) }
    package static let largestUsualLimit = 128 << 20

    /// - Parameter reader: reads a part of one of this node's files; `nil` where this node reads none.
    init(limit: Int, system: ClusterSystem, reader: (@Sendable (PixelRequest) async -> PixelReply)? = nil) {
        (self.system, self.reader) = (system, reader)
        keepsParts = limit > 0
        // Only a few other nodes ask for the same part, and they do so soon after each other.
        caches = [.ownWorkers: TileCache(limit: limit), .others: TileCache(limit: limit / 8)]
    }

    /// Removes the parts of images that it keeps.
    func removeParts() {
        for use in caches.keys { caches[use]?.removeAll() }
    }

    /// Reads a part of one of this node's files, for another node.
    func serve(_ request: PixelRequest) async -> PixelReply {
        await reply(to: request, for: .others) { await self.read(request) }
    }

    /// Gets a part of another node's file, for a worker of this node.
    func fetch(_ request: PixelRequest) async -> PixelReply {
        if absent.last != request.file {
            absent.removeAll { $0 == request.file }
            absent.append(request.file)
            if absent.count > PixelStore.absentLimit { absent.removeFirst() }
        }
        return await reply(to: request, for: .ownWorkers) { await self.ask(request) }
    }

    /// Gets the pixels of a file that its workers could not open, before one of them asks for them.
    func lookAhead(_ image: ImageReference, hdu: Int?, rect: PixelRect) async {
        guard let content = image.content, let holder = image.holder else { return }
        let file = PixelFile(path: image.path, content: content, hdu: hdu, layer: image.layer)
        guard keepsParts, absent.contains(file), rect.isSmall else { return }
        let tiles = PixelTiles(width: rect.right, height: rect.bottom).tiles(of: rect)
        await withDiscardingTaskGroup { group in
            for tile in tiles {
                let request = PixelRequest(file: file, part: .tile(tile), holder: holder)
                group.addTask { _ = await self.reply(to: request, for: .ownWorkers) { await self.ask(request) } }
            }
        }
    }

    /// How many files are remembered: as many as the jobs that a node works for at a time.
    private static let absentLimit = 64

    private func reply(
        to request: PixelRequest, for use: Use, _ get: @escaping @Sendable () async -> PixelReply
    ) async -> PixelReply {
        let key = TileCache.Key(request)
        if let bytes = caches[use]?.value(key) { return .part(bytes) }
        let errand = Errand(use: use, key: key)
        if let task = underWay[errand] { return await task.value }
        // The task goes on if the first caller gives up, because other callers may wait for it, and it ends by itself.
        let task = Task { await get() }
        underWay[errand] = task
        let reply = await task.value
        underWay[errand] = nil
        if case .part(let bytes) = reply { caches[use]?.insert(key, bytes) }
        return reply
    }

    private func read(_ request: PixelRequest) async -> PixelReply {
        guard let reader else { return .unavailable("this node reads no files") }
        if case .result = request.part {
            if !workers.take() { await withCheckedContinuation { workers.wait($0) } }
            defer { workers.giveBack() }
            return await reader(request)
        }
        if !readers.take() { await withCheckedContinuation { readers.wait($0) } }
        defer { readers.giveBack() }
        return await reader(request)
    }

    private func ask(_ request: PixelRequest) async -> PixelReply {
        if !askers.take() { await withCheckedContinuation { askers.wait($0) } }
        defer { askers.giveBack() }
        let name = FITSSniff.quoted(request.file.path)
        guard let holder = request.holder else { return .unavailable("\(name): nobody is known to have it") }
        // After a restart, the holder is another node with the same name.
        let members = system.members
        let isOwn = holder.id == system.node || holder.name == system.name
        if isOwn, !members.contains(where: { $0.node == holder.id || $0.name == holder.name }) {
            return .unavailable("\(name): it was looked at on this node, and cannot be read here any more")
        }
        guard let node = (members.first { $0.node == holder.id } ?? members.first { $0.name == holder.name })?.node
        else {
            return .unavailable("\(name): not on this node, and node \(holder.name), which has it, is not there")
        }
        do {
            let actor = try PixelActor.resolve(
                id: ActorAddress(node: node, name: PixelActor.wellKnownName), using: system)
            return try await withDeadline(PixelStore.patience) { try await actor.part(request) }
        } catch {
            return .unavailable(
                "\(name): not on this node, and from node \(holder.name), which has it, it did not come: \(error)")
        }
    }
}

extension PixelRect {
    /// Whether a peer's rectangle can be that of a sector. The tiles of a larger rectangle would only drive others out.
    var isSmall: Bool {
        let (places, sizes) = (0..<Int(Int32.max), 1...8 * PixelTiles.side)
        return places.contains(x) && places.contains(y) && sizes.contains(width) && sizes.contains(height)
    }
}
