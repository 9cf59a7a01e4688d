package import NIOCore
package import SkyCore
package import Transport

/// A part of an image that is read for another node.
package enum PixelWork: KindWork, WorkerWork {
    case pixels(PixelRequest)

    package static var cases: [String] { ["pixels"] }

    package func validate() throws(InvalidMessage) {
        switch self {
        case .pixels(let request): if let objection = request.objection { throw InvalidMessage(objection) }
        }
    }

    package var place: WorkPlace { .worker(self) }

    package func perform(with tools: WorkerTools) throws -> TaskResult {
        switch self {
        case .pixels(let request): .pixels(try tools.engine.part(request))
        }
    }
}

extension ScanTask.Work {
    package static func pixels(_ request: PixelRequest) -> Self { Self(PixelWork.pixels(request)) }
}

/// The bytes of a part of an image.
package enum PixelResult: KindResult {
    case pixels(ByteBuffer)

    package static var cases: [String] { ["pixels"] }

    package var isForNode: Bool { true }
}

extension TaskResult {
    package static func pixels(_ bytes: ByteBuffer) -> Self { Self(PixelResult.pixels(bytes)) }
}
