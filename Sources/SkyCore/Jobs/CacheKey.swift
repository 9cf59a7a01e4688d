import Crypto
import Transport

/// What decides a task's result: the kind of work, its parameters, its input, and the program. Two tasks with equal keys have
/// equal results, so that one that was done need not be done again.
package struct CacheKey: Hashable, Sendable {
    /// SHA-256.
    package let digest: [UInt8]

    package init(digest: [UInt8]) {
        self.digest = digest
    }

    /// - Parameter work: with references to images by what they hold, not by where they lie.
    private init(_ work: ScanTask.Work) throws {
        var hash = SHA256()
        // Any release may measure differently.
        hash.update(data: Array("SkyNet \(SkyNetVersion.current) result 1\n".utf8))
        hash.update(data: Array(try WireCoder.encode(work).readableBytesView))
        digest = Array(hash.finalize())
    }

    /// `nil` for work that depends on more than its parameters and a file whose content is known.
    init?(of task: ScanTask) {
        guard !task.rehearsal.isAny else { return nil }
        let work: ScanTask.Work
        switch task.work {
        case .simulate, .inspect: return nil
        case .background(let image, let sector, let configuration):
            guard let image = CacheKey.anywhere(image) else { return nil }
            work = .background(image, sector, configuration)
        case .extract(let image, let sector, let background, let configuration):
            guard let image = CacheKey.anywhere(image) else { return nil }
            work = .extract(image, sector, background, configuration)
        case .preview(let image, let maximumSide):
            guard let image = CacheKey.anywhere(image) else { return nil }
            work = .preview(image, maximumSide: maximumSide)
        }
        guard let key = try? CacheKey(work) else { return nil }
        self = key
    }

    /// The same image wherever it lies and whenever it was copied.
    private static func anywhere(_ image: ImageReference) -> ImageReference? {
        guard var content = image.content else { return nil }
        content.modified = 0
        return ImageReference(path: "", hdu: image.hdu, content: content)
    }
}
