import Fixtures
import Transport

@testable import Sky
@testable import SkyCore
@testable import SkyJobs

extension PixelRequest {
    /// A tile of the first row of a file, which need not exist.
    static func tile(
        _ column: Int, of path: String, content: UInt8 = 1, holder: PixelHolder? = nil
    ) -> PixelRequest {
        var known = FileContent.unknown
        known.digest = [UInt8](repeating: content, count: 32)
        return PixelRequest(
            file: PixelFile(path: path, content: known, hdu: 0), part: .tile(PixelTile(column: column, row: 0)),
            holder: holder)
    }
}
