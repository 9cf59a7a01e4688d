import Distributed
import Sky
package import SkyCore
import Transport

extension Coordinator {
    /// The results of a comparison, a few parts at a time.
    ///
    /// - Throws: `RemoteError` if the job is not known here, or still goes on.
    package distributed func compared(_ request: ComparedRequest) async throws -> ComparedPage {
        if let other = try await elsewhere(request.job) {
            return try await forward(request.job) { try await other.compared(request) }
        }
        let parts = (try await results(of: request.job) as? ComparedParts)?.parts ?? []
        let start = min(max(0, request.from), parts.count)
        var (end, bytes) = (start, 0)
        while end < parts.count,
            end == start || (end - start < Coordinator.partsOfPage && bytes < Coordinator.bytesOfPage)
        {
            if case .difference(let result) = parts[end] { bytes += result.planes?.byteCount ?? 0 }
            end += 1
        }
        return ComparedPage(parts: Array(parts[start..<end]), total: parts.count)
    }

    /// Each part has some 200 kB at most, apart from pixels.
    private static let partsOfPage = 32
    private static let bytesOfPage = 16 << 20
}
