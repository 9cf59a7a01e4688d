import Base
import NIOCore
package import Sky
package import SkyCore
package import Transport

extension SkyWork: KindWork, WorkerWork {
    package static var cases: [String] { ["inspect", "background", "seeing", "extract", "join", "preview"] }

    package func validate() throws(InvalidMessage) {
        try InvalidMessage.of { () throws(SkyError) in try check() }
    }

    package var place: WorkPlace { .worker(self) }

    package func lookAhead(_ tools: NodeTools) async {
        guard let (image, hdu, rect) = pixels, let store = tools.tool(PixelTool.self)?.store else { return }
        await store.lookAhead(image, hdu: hdu, rect: rect)
    }

    package func perform(with tools: WorkerTools) throws -> TaskResult {
        let engine = tools.engine
        // What the engine did since its last task, such as reading tiles for another node, is not this task's work.
        _ = engine.stages.finish()
        defer { tools.stages = StageTimes(engine.stages.finish()) }
        do {
            return .sky(try perform(on: engine))
        } catch let error as SkyError where error.kind == .unavailable {
            guard let request = PixelRequest(self) else { throw error }
            return .sky(try ask(request, DaemonPixels(tools.system, on: tools.eventLoop), instead: error))
        }
    }

    /// Has the node that has the file do the work.
    ///
    /// - Parameter error: why it cannot be done here.
    func ask(_ request: PixelRequest, _ supply: any PixelSupply, instead error: SkyError) throws(SkyError) -> SkyResult
    {
        let found: [ByteBuffer]
        do throws(SkyError) {
            found = try supply.parts([request])
        } catch let other {
            throw other.kind == .badInput ? other : error
        }
        guard let bytes = found.first, let result = try? WireCoder.decode(SkyResult.self, from: bytes) else {
            throw error
        }
        switch (self, result) {
        case (.inspect, .inspected(var info)):
            info.holder = request.holder
            return .inspected(info)
        case (.preview, .preview): return result
        default: throw error
        }
    }

    /// Does the work on files that hold what they are known to hold.
    func perform(on engine: SkyEngine) throws -> SkyResult {
        switch self {
        case .background(let image, _, _), .seeing(let image, _, _, _), .extract(let image, _, _, _),
            .join(let image, _, _, _):
            return try engine.with(image.contents[...]) { try engine.perform(self) }
        case .preview(var image, _, _):
            // Moving a whole image is not worthwhile for a small picture, so a node that has the file draws it.
            image.holder = nil
            return try engine.with(image.contents[...]) { try engine.perform(self) }
        case .inspect: return try engine.perform(self)
        }
    }
}

extension ScanTask.Work {
    package static func sky(_ work: SkyWork) -> Self { Self(work) }

    /// The work on an image; `nil` for other work.
    package var sky: SkyWork? { value as? SkyWork }
}

extension SkyResult: KindResult {
    package static var cases: [String] { ["inspected", "background", "seeing", "extracted", "joined", "preview"] }

    package var isForNode: Bool { if case .inspected = self { true } else { false } }

    package mutating func sign(by node: NodeLabel?) {
        // Another node may have read the file in its place.
        guard case .inspected(var info) = self, info.content != nil, info.holder == nil else { return }
        info.holder = node.map { PixelHolder(node: $0.id, name: $0.name) }
        self = .inspected(info)
    }
}

extension TaskResult {
    package static func sky(_ result: SkyResult) -> Self { Self(result) }
}

extension WorkerTools {
    /// The engine that reads and scans images. It keeps the last image open.
    var engine: SkyEngine {
        tool { SkyEngine(supply: DaemonPixels(system, on: eventLoop), readFolders: readFolders, inputs: inputs) }
    }
}

extension StageTimes {
    /// The names of the stages on the wire are those of `ScanStage`, and never change.
    init(_ durations: [ScanStage: Duration]) {
        self.init(Dictionary(uniqueKeysWithValues: durations.map { ($0.rawValue, $1) }))
    }
}

extension SkyEngine {
    /// Runs `work` on files that must hold what they are known to hold.
    func with<Result>(_ files: ArraySlice<ImageReference.File>, _ work: () throws -> Result) throws -> Result {
        guard let file = files.first else { return try work() }
        return try with(file.content, of: file.path, holder: file.holder) { try with(files.dropFirst(), work) }
    }
}
