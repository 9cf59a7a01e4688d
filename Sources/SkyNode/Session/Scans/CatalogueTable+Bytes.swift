import Base
import Foundation
import Sky
import SkyCore

extension CatalogueTable {
    /// A catalogue for standard output.
    ///
    /// - Throws: `SkyError` where a format that needs a file finds no room for one.
    func bytes(_ format: CatalogueFormat) throws(SkyError) -> [UInt8] {
        switch format {
        case .csv: return csv()
        case .ecsv: return ecsv()
        case .votable: return votable()
        case .ndjson: return ndjson()
        case .regions: return regions()
        case .fits, .ldac:
            // The library writes files.
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("skynode-\(UUID()).fits")
            defer { try? FileManager.default.removeItem(at: file) }
            try write(format, to: file.path)
            guard let data = try? Data(contentsOf: file) else { throw .notWritten(file.path, errno: EIO) }
            return Array(data)
        }
    }
}
