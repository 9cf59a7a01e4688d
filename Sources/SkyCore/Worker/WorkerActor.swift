package import Distributed
import Glibc
package import NIOPosix
import Sky
package import Transport

/// The one actor of a worker process: does foreign work for its daemon, one piece at a time, on a thread of its own.
package distributed actor WorkerActor: ClusterActor {
    package typealias ActorSystem = ClusterSystem

    /// What peers may call. A test calls every method, so a name here that is not the compiler's is noticed.
    package static let methods = MethodTable([
        Method("perform", "$s7SkyCore11WorkerActorC7performyAA11TaskOutcomeOAA04ScanF0VYaKFTE") {
            (worker: isolated WorkerActor, argument: ScanTask) in await worker.perform(argument)
        }
    ])

    package static let wellKnownName = "worker"

    /// cfitsio, wcslib and SEP block for as long as they like; never on the cooperative pool.
    private let thread: NIOThreadPool
    private let engine: EngineBox

    package init(thread: NIOThreadPool, pixels: DaemonPixels, actorSystem: ClusterSystem) {
        self.actorSystem = actorSystem
        self.thread = thread
        engine = EngineBox(pixels)
    }

    /// Does one task's work.
    package distributed func perform(_ task: ScanTask) async -> TaskOutcome {
        do {
            return .done(
                try await thread.runIfActive { [engine] in
                    task.rehearsal.poison?.takeEffect()
                    return try engine.perform(task.work)
                })
        } catch let error as SkyError {
            switch error.kind {
            case .badInput: return .badInput(error.message)
            case .unavailable: return .unavailable(error.message)
            case .failed: return .fault(error.message)
            }
        } catch {
            return .fault(String(describing: error))
        }
    }
}

extension Poison {
    fileprivate func takeEffect() {
        switch self {
        case .crash: abort()
        case .hang: while true { pause() }
        case .memory:
            var hoard: [[UInt8]] = []
            while true { hoard.append([UInt8](repeating: 1, count: 16 << 20)) }
        case .node: break
        }
    }
}

/// Carries the engine, which is not `Sendable`, to the one thread that uses it.
///
/// Safe because only jobs of a pool of exactly one thread touch `engine`, one after the other.
private final class EngineBox: @unchecked Sendable {
    private let engine: SkyEngine

    init(_ supply: any PixelSupply) { engine = SkyEngine(supply: supply) }

    func perform(_ work: ScanTask.Work) throws -> TaskResult {
        switch work {
        case .simulate: .simulated
        case .pixels(let request): .pixels(try engine.part(request))
        case .sky(let work): .sky(try perform(work))
        }
    }

    private func perform(_ work: SkyWork) throws -> SkyResult {
        switch work {
        case .background(let image, _, _), .seeing(let image, _, _, _), .extract(let image, _, _, _),
            .join(let image, _, _, _):
            return try with(image.contents[...]) { try engine.perform(work) }
        case .preview(var image, _):
            // All of an image for a small picture is not worth its way: a node that has the file draws it.
            image.holder = nil
            return try with(image.contents[...]) { try engine.perform(work) }
        case .compare(let new, let old, _):
            return try with((new.reference.contents + old.reference.contents)[...]) { try engine.perform(work) }
        case .inspect: return try engine.perform(work)
        }
    }

    /// Works on files that hold what they are known to hold.
    private func with(_ files: ArraySlice<ImageReference.File>, _ work: () throws -> SkyResult) throws -> SkyResult {
        guard let file = files.first else { return try work() }
        return try engine.with(file.content, of: file.path, holder: file.holder) { try with(files.dropFirst(), work) }
    }
}
