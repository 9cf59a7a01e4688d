package import SkyCore
package import Transport

/// The part of a node that moves pixels, as a tool of the work on images.
package struct PixelTool: NodeTool {
    let store: PixelStore
    /// What other nodes reach. The system does not keep it alive.
    private let actor: PixelActor

    package init(_ site: NodeToolSite) {
        let store = PixelStore(limit: site.memory ?? PixelStore.usualLimit, system: site.system) { request in
            await site.part(request)
        }
        self.store = store
        actor = ClusterSystem.withActorName(PixelActor.wellKnownName) {
            PixelActor(actorSystem: site.system) { await store.serve($0) }
        }
    }

    package func actorForWorkers(in system: ClusterSystem) -> any ClusterActor {
        ClusterSystem.withActorName(PixelActor.wellKnownName) {
            PixelActor(actorSystem: system) { [store] in await store.fetch($0) }
        }
    }

    package func trim() async { await store.removeParts() }
}

extension NodeToolSite {
    /// Reads a part of one of this node's files. A worker process does it, because cfitsio may block or die on a file.
    fileprivate func part(_ request: PixelRequest) async -> PixelReply {
        switch await perform(ScanTask(.pixels(request), label: "pixels"), PixelStore.patience) {
        case .success(let result):
            guard case .read(let result) = result, case .pixels(let bytes)? = result.value as? PixelResult else {
                return .unavailable("a worker answered another question than it was asked")
            }
            return .part(bytes)
        case .failure(.permanent(let reason)): return .badInput(reason.description)
        case .failure(let failure): return .unavailable(failure.reason.description)
        }
    }
}
