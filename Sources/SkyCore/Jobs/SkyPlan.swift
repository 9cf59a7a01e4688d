/// The plan of an image: look at its header, measure the background of every sector, then scan every sector with the
/// one background stitched from all of them.
///
/// Two rounds, because a background of each sector's own changes a tenth of the fluxes; with the stitched one the
/// sources are those of a whole-image scan.
struct SkyPlan: JobPlan {
    private enum Phase {
        case inspecting
        case measuring
        case extracting(BackgroundMap)
    }

    let request: SkyRequest
    private var phase = Phase.inspecting
    private(set) var info: ImageInfo?
    private var sectors: [Sector] = []
    private var tiles: [BackgroundTile] = []
    private var backgroundDigest: [UInt8] = []
    private(set) var results: [SectorResult] = []
    private(set) var preview: ImagePreview?

    init(_ request: SkyRequest) {
        self.request = request
    }

    // Tasks are numbered: 0 the header; 1...n the backgrounds; n+1...2n the sectors; 2n+1 the picture.

    func task(_ number: Int) -> ScanTask? {
        let count = sectors.count
        let label = label(number) ?? ""
        if number == 0 { return ScanTask(.inspect(request.image, withContent: usesCache), label: label) }
        if (1...max(1, count)).contains(number), count > 0 {
            return ScanTask(.background(image, sectors[number - 1], request.configuration), label: label)
        }
        if case .extracting(let background) = phase, (count + 1...2 * count).contains(number) {
            let sector = sectors[number - count - 1]
            var task = ScanTask(.extract(image, sector, background, request.configuration), label: label)
            task.rehearsal.failsFirstAttempt = request.failSector == sector.index
            return task
        }
        if case .extracting = phase, number == 2 * count + 1, let side = request.pictureSide {
            return ScanTask(.preview(image, maximumSide: side), label: label)
        }
        return nil
    }

    var needsResults: Bool { true }

    private var usesCache: Bool { request.usesCache ?? true }

    func cacheKey(_ number: Int) -> CacheKey? {
        guard usesCache, let content = info?.content, number >= 1 else { return nil }
        let count = sectors.count
        var identity = CacheKey.Identity(digest: content.digest, size: content.size, hdu: image.hdu)
        if number <= count {
            identity.kind = "background"
            (identity.sector, identity.configuration) = (sectors[number - 1], request.configuration)
        } else if number <= 2 * count {
            // It fails once on purpose, which is what somebody wants to see.
            guard request.failSector != sectors[number - count - 1].index else { return nil }
            identity.kind = "sector"
            (identity.sector, identity.configuration) = (sectors[number - count - 1], request.configuration)
            identity.background = backgroundDigest
        } else {
            guard let side = request.pictureSide else { return nil }
            identity.kind = "picture"
            identity.side = side
        }
        return CacheKey(identity)
    }

    func label(_ number: Int) -> String? {
        let count = sectors.count
        if number == 0 { return "header" }
        guard count > 0, (1...2 * count + 1).contains(number) else { return nil }
        if number <= count { return "background \(sectors[number - 1].index + 1)" }
        return number <= 2 * count ? "sector \(sectors[number - count - 1].index + 1)" : "picture"
    }

    /// The image with the HDU that was found, so that every task means the same one.
    private var image: ImageReference {
        ImageReference(path: request.image.path, hdu: info?.hdu ?? request.image.hdu, content: info?.content)
    }

    mutating func begin() -> PlanStep {
        PlanStep(newTasks: 1)
    }

    func accepts(_ task: Int, _ result: TaskResult) -> Bool {
        let count = sectors.count
        switch (phase, result) {
        case (.inspecting, .inspected): return task == 0
        case (.measuring, .background(let tile)):
            return task >= 1 && task <= count && tile.sector == sectors[task - 1].index
        case (.extracting, .extracted(let result)):
            return task > count && task <= 2 * count && result.sector == sectors[task - count - 1].index
                && (0...result.sources.count).contains(result.truncatedSources)
        case (.extracting, .preview): return task == 2 * count + 1
        default: return false
        }
    }

    mutating func completed(_ task: Int, _ result: TaskResult) -> PlanStep {
        guard accepts(task, result) else {
            // Another version of the program, or a liar; either way its numbers are not to be trusted.
            return PlanStep(abort: SkyError(.failed, "a node answered another question than it was asked"))
        }
        switch result {
        case .simulated: return PlanStep()
        case .inspected(let info): return inspected(info)
        case .background(let tile):
            tiles.append(tile)
            return tiles.count == sectors.count ? measured() : PlanStep()
        case .extracted(let result):
            results.append(result)
            return PlanStep(events: [.sectorDone(sector: result.sector, sources: result.sources.count)])
        case .preview(let preview):
            self.preview = preview
            return PlanStep()
        }
    }

    private mutating func inspected(_ info: ImageInfo) -> PlanStep {
        self.info = info
        do {
            sectors = try SectorGrid(info: info, configuration: request.configuration).sectors
        } catch {
            return PlanStep(abort: error)
        }
        phase = .measuring
        if let fail = request.failSector, fail >= sectors.count {
            return PlanStep(
                abort: SkyError(.badInput, "there is no sector \(fail + 1), the image has \(sectors.count)"))
        }
        return PlanStep(newTasks: sectors.count, events: [.planned(info, sectors: sectors.count)])
    }

    private mutating func measured() -> PlanStep {
        guard let info else { return PlanStep() }
        do {
            let background = try BackgroundMap(tiles: tiles, info: info, configuration: request.configuration)
            tiles = []
            phase = .extracting(background)
            // Once, and not for every sector: it is large.
            if usesCache { backgroundDigest = try CacheKey.digest(of: background) }
        } catch let error as SkyError {
            return PlanStep(abort: error)
        } catch {
            return PlanStep(abort: SkyError(.failed, "the background cannot be encoded: \(error)"))
        }
        return PlanStep(newTasks: sectors.count + (request.pictureSide == nil ? 0 : 1), isLast: true)
    }

    mutating func failed(_ task: Int, _ reason: String, isBadInput: Bool) -> PlanStep {
        // Without the header or one background mesh nothing after it can be right; a sector less is a gap that can
        // be named.
        guard task <= sectors.count else { return PlanStep() }
        // An engine's own words name the file; those of a scheduler or a dying worker do not.
        let text = reason.contains(image.path) ? reason : "\(image.path): \(reason)"
        return PlanStep(abort: SkyError(isBadInput ? .badInput : .failed, text))
    }

    /// Lets go of what only the merge needed.
    mutating func release() {
        results = []
        tiles = []
        preview = nil
        phase = .measuring
    }

    /// What the coordinator hands back at the end.
    var catalogue: Catalogue? {
        info.map { Catalogue(merging: results, info: $0) }
    }
}
