import Base
import Sky
import SkyCore
import Transport

/// The plan of a scan: it makes tasks of `ScanPhases`, and knows which of them earlier results may answer.
struct SkyPlan: JobPlan {
    private(set) var phases: ScanPhases
    /// The digests of the image's background and of the detection image's background. They are made once, and not for every
    /// sector, because the backgrounds are large.
    private var backgroundDigest: [UInt8] = []
    private var detectionDigest: [UInt8]?
    /// Which node scanned which sector, by task.
    private var runs: [Int: SectorRun] = [:]

    init(_ request: SkyRequest) { phases = ScanPhases(request) }

    func task(_ number: Int) -> ScanTask? {
        guard let work = phases.work(number), let label = label(number) else { return nil }
        var task = ScanTask(.sky(work), label: label)
        if case .extract(_, let sector, _, _) = work {
            task.rehearsal.failsFirstAttempt = phases.request.failSector == sector.index
        }
        return task
    }

    var needsResults: Bool { true }

    private var wantsCache: Bool { phases.request.usesCache ?? true }

    var usesCache: Bool { wantsCache && phases.info?.content != nil }

    func cacheKey(_ number: Int) -> CacheKey? {
        guard wantsCache, let content = phases.info?.content, let role = phases.role(number) else { return nil }
        let (image, request, given) = (phases.image, phases.request, phases.given)
        let (configuration, sectors) = (phases.configuration, phases.sectors)
        var identity = CacheKey.ScanContent(digest: content.digest, size: content.size, hdu: image.hdu)
        identity.layer = image.layer
        if let companions = image.companions {
            identity.companions = [companions.noise, companions.mask].map { $0?.content?.digest ?? [] }
            identity.noiseKind = companions.noise == nil ? nil : companions.kind
            identity.companionHDUs = [companions.noise?.hdu, companions.mask?.hdu]
            let layers = [companions.noise?.layer, companions.mask?.layer]
            identity.companionLayers = layers.contains { $0 != nil } ? layers : nil
        }
        identity.injection = image.injection
        switch role {
        case .sector, .union:
            guard request.image.detection != nil else { break }
            guard let found = phases.info?.detection, let content = found.content, let detectionDigest else {
                return nil
            }
            identity.detection = [content.digest, detectionDigest]
            (identity.detectionHDU, identity.detectionLayer) = (found.hdu, found.layer)
        case .header, .background, .detectionBackground, .seeing, .picture: break
        }
        switch role {
        case .header: return nil
        case .detectionBackground(let index):
            // The key is the same as in a scan of that image alone.
            guard let detection = phases.detection(with: nil), let content = detection.image.content else { return nil }
            identity = CacheKey.ScanContent(digest: content.digest, size: content.size, hdu: detection.image.hdu)
            identity.layer = detection.image.layer
            identity.kind = "background"
            (identity.sector, identity.configuration) = (sectors[index], given)
            identity.configuration?.hdu = request.image.detection?.image.hdu
        case .background(let index):
            identity.kind = "background"
            (identity.sector, identity.configuration) = (sectors[index], given)
        case .seeing(let index):
            identity.kind = "seeing"
            (identity.sector, identity.configuration) = (phases.samples[index], configuration)
            identity.background = backgroundDigest
        case .sector(let index):
            // The sector fails once on purpose, and an earlier result would hide that from the person who wants to see it.
            guard request.failSector != sectors[index].index else { return nil }
            // Earlier versions cannot read what these results are encoded in.
            identity.kind = "sector in less room"
            (identity.sector, identity.configuration) = (sectors[index], configuration)
            identity.background = backgroundDigest
        case .union(let index):
            identity.kind = "union"
            (identity.union, identity.configuration) = (phases.unions[index], configuration)
            identity.background = backgroundDigest
        case .picture:
            guard let side = request.pictureSide else { return nil }
            // The picture has the grey scale that follows the sky's noise. A picture with an earlier grey scale must not answer.
            identity.kind = (request.encodesPicture ?? false) ? "encoded picture by noise" : "picture by noise"
            identity.side = side
        }
        return CacheKey(identity)
    }

    func label(_ number: Int) -> String? { phases.label(number) }

    func consequence(ofFailed number: Int) -> String? { phases.consequence(ofFailed: number) }

    func affinity(_ number: Int) -> Int? { phases.affinity(number) }

    var holder: NodeID? { phases.info?.holder?.id }

    mutating func begin() -> PlanStep { PlanStep(phases.begin()) }

    func accepts(_ task: Int, _ result: TaskResult) -> Bool {
        guard let result = result.value as? SkyResult else { return false }
        return phases.accepts(task, result)
    }

    mutating func completed(_ task: Int, _ result: TaskResult) -> PlanStep {
        guard let result = result.value as? SkyResult else {
            return PlanStep(abort: SkyError(.failed, "a node answered another question than it was asked"))
        }
        let step = phases.completed(task, result)
        do {
            try digestBackgrounds()
        } catch {
            return PlanStep(abort: SkyError(.failed, "the background cannot be encoded: \(error)"))
        }
        return PlanStep(step)
    }

    private mutating func digestBackgrounds() throws {
        guard wantsCache, backgroundDigest.isEmpty, let background = phases.background else { return }
        detectionDigest = try phases.detectionBackground.map { try CacheKey.digest(of: $0) }
        backgroundDigest = try CacheKey.digest(of: background)
    }

    mutating func failed(_ task: Int, _ reason: String, isBadInput: Bool) -> PlanStep {
        PlanStep(phases.failed(task, reason, isBadInput: isBadInput))
    }

    mutating func release() {
        phases.release()
        runs = [:]
    }

    mutating func ran(_ task: Int, _ result: TaskResult, on node: String, took duration: Duration) {
        guard case .extracted(let found)? = result.value as? SkyResult else { return }
        runs[task] = SectorRun(sector: found.sector, node: node, duration: duration, sources: found.sources.count)
    }

    var results: any JobResults {
        ScanResults(
            catalogue: phases.catalogue, preview: phases.preview,
            runs: runs.sorted { $0.key < $1.key }.map(\.value), background: phases.background,
            planes: phases.planes)
    }
}

/// The results of a scan.
struct ScanResults: JobResults {
    var catalogue: Catalogue?
    /// The small picture of the image.
    var preview: ImagePreview?
    /// Which node scanned which sector.
    var runs: [SectorRun] = []
    /// The background of the image, below its sources.
    var background: BackgroundMap?
    /// What check images are made of.
    var planes: ScannedCheckPixels?

    var byteCount: Int {
        1024 + (catalogue?.sources.count ?? 0) * 400 + (preview?.pixels.count ?? 0) + (background?.byteCount ?? 0)
            + (planes?.byteCount ?? 0)
    }
}

extension PlanStep {
    fileprivate init(_ step: ScanPhases.Step) {
        self.init(newTasks: step.newWork, isLast: step.isLast, abort: step.abort)
        if let (info, sectors) = step.planned { events.append(.special(ScanEvent.planned(info, sectors: sectors))) }
        if let (sector, sources) = step.sectorDone {
            events.append(.special(ScanEvent.sectorDone(sector: sector, sources: sources)))
        }
    }
}
