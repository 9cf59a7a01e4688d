import Distributed
import Sky
import Transport

extension Coordinator {
    /// What a comparison came to, a few parts at a time.
    ///
    /// - Throws: `RemoteError` for a job that is not known here, or goes on.
    package distributed func compared(_ request: ComparedRequest) async throws -> ComparedPage {
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

    /// Each is some 200 kB at most, but for pixels.
    private static let partsOfPage = 32
    private static let bytesOfPage = 16 << 20
}
