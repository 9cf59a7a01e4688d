import Base
import Foundation
import Sky
import SkyCore

extension CatalogueTable {
    /// The bytes of a catalogue, for standard output.
    ///
    /// - Throws: `SkyError` where a format needs a temporary file and there is no room for one.
    func bytes(_ format: CatalogueFormat) throws(SkyError) -> [UInt8] {
        switch format {
        case .csv: return csv()
        case .ecsv: return ecsv()
        case .votable: return votable()
        case .ndjson: return ndjson()
        case .regions: return regions()
        case .fits, .ldac:
            // The library for FITS can only write files.
            let file = URL(fileURLWithPath: try TemporaryLocation().path).appendingPathComponent(
                "skynode-\(UUID()).fits")
            defer { try? FileManager.default.removeItem(at: file) }
            try write(format, to: file.path)
            guard let data = try? Data(contentsOf: file) else { throw .notWritten(file.path, errno: EIO) }
            return Array(data)
        }
    }
}
