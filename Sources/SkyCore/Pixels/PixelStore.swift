import Distributed
import NIOCore
import Sky
package import Transport

/// A node's share in moving pixels: reads parts of files that it has for others, and gets for its own workers what others
/// have. Either way a part is kept for the next who asks, up to a number of bytes.
package actor PixelStore {
    private let system: ClusterSystem
    private let keepsParts: Bool
    /// What is kept, and for whom.
    private enum Use { case ownWorkers, others }
    /// Apart by use: two nodes that took each other for the holder would wait for one another.
    private struct Errand: Hashable {
        var use: Use
        var key: TileCache.Key
    }
    private var caches: [Use: TileCache]
    /// Parts on their way here, by what they are: whoever wants one too waits with the first.
    private var underWay: [Errand: Task<PixelReply, Never>] = [:]
    private var readers = Permits(PixelStore.readerLimit)
    private var askers = Permits(PixelStore.askerLimit)
    private var workers: WorkerPool?
    /// Files that its workers could not open, the last ones.
    private var absent: [PixelFile] = []

    /// Parts that are read for others at a time. Not among the slots: it takes milliseconds.
    private static let readerLimit = 2
    /// Parts under way to this node: enough to fill a link while one is read, little enough that fifty nodes do not
    /// make the one that has the file hold a hundred megabytes of answers.
    private static let askerLimit = 4
    /// Time for a part to come, over a slow link that many share.
    private static let patience = Duration.seconds(60)

    /// Bytes that are kept unless said otherwise: a 64-megapixel image of a camera, or a sixteenth of a small machine.
    package static var usualLimit: Int { min(128 << 20, Int(clamping: MachineMemory.total / 16)) }

    package init(limit: Int, system: ClusterSystem) {
        self.system = system
        keepsParts = limit > 0
        // Few others ask for the same part, and soon after each other.
        caches = [.ownWorkers: TileCache(limit: limit), .others: TileCache(limit: limit / 8)]
    }

    /// Whose processes read files. Before it is called this node reads none.
    func read(with workers: WorkerPool) { self.workers = workers }

    /// Forgets what it keeps of images.
    func rest() {
        for use in caches.keys { caches[use]?.removeAll() }
    }

    /// Reads a part of a file of this node's, for another.
    func serve(_ request: PixelRequest) async -> PixelReply {
        await reply(to: request, for: .others) { await self.read(request) }
    }

    /// Gets a part of a file of another node's, for a worker of this one.
    func fetch(_ request: PixelRequest) async -> PixelReply {
        if absent.last != request.file {
            absent.removeAll { $0 == request.file }
            absent.append(request.file)
            if absent.count > PixelStore.absentLimit { absent.removeFirst() }
        }
        return await reply(to: request, for: .ownWorkers) { await self.ask(request) }
    }

    /// Gets the pixels of a file that its workers could not open before one of them asks for them.
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

    /// Images of as many jobs as a node has to do with at a time.
    private static let absentLimit = 64

    private func reply(
        to request: PixelRequest, for use: Use, _ get: @escaping @Sendable () async -> PixelReply
    ) async -> PixelReply {
        let key = TileCache.Key(request)
        if let bytes = caches[use]?.value(key) { return .part(bytes) }
        let errand = Errand(use: use, key: key)
        if let task = underWay[errand] { return await task.value }
        // Goes on where the first who asked gives up: others may wait for it, and it ends by itself.
        let task = Task { await get() }
        underWay[errand] = task
        let reply = await task.value
        underWay[errand] = nil
        if case .part(let bytes) = reply { caches[use]?.insert(key, bytes) }
        return reply
    }

    private func read(_ request: PixelRequest) async -> PixelReply {
        guard let workers else { return .unavailable("this node reads no files") }
        if !readers.take() { await withCheckedContinuation { readers.wait($0) } }
        defer { readers.giveBack() }
        let task = ScanTask(.pixels(request), label: "pixels")
        switch await workers.perform(task, timeLimit: PixelStore.patience) {
        case .success(let result):
            guard case .pixels(let bytes)? = result.value as? PixelResult else {
                return .unavailable("a worker answered another question than it was asked")
            }
            return .part(bytes)
        case .failure(.permanent(let reason)): return .badInput(reason.description)
        case .failure(let failure): return .unavailable(failure.reason.description)
        }
    }

    private func ask(_ request: PixelRequest) async -> PixelReply {
        if !askers.take() { await withCheckedContinuation { askers.wait($0) } }
        defer { askers.giveBack() }
        let name = FITSSniff.quoted(request.file.path)
        guard let holder = request.holder else { return .unavailable("\(name): nobody is known to have it") }
        // After a restart it is another node by the same name.
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
    /// Whether a peer's rectangle is one of a sector: tiles of a larger one would only drive others out.
    var isSmall: Bool {
        let (places, sizes) = (0..<Int(Int32.max), 1...8 * PixelTiles.side)
        return places.contains(x) && places.contains(y) && sizes.contains(width) && sizes.contains(height)
    }
}
