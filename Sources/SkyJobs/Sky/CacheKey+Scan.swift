import Sky
import SkyCore

extension CacheKey {
    /// What goes into the digest. The image is identified by what its file holds, not by the file's place.
    struct ScanContent: Codable {
        /// The digest of the file.
        var digest: [UInt8]
        /// The size of the file in bytes.
        var size: Int
        var hdu: Int?
        /// The part of the file that is the image.
        var layer: ImageLayer?
        var kind = ""
        var sector: Sector?
        var union: SectorUnion?
        /// The digests of the files of weights and mask, their HDUs and layers, and the kind of the weights.
        var companions: [[UInt8]]?
        var companionHDUs: [Int?]?
        var companionLayers: [ImageLayer?]?
        var noiseKind: Companions.NoiseKind?
        /// The digests of the detection image's file and of that image's background, and the part of the file that is the image.
        var detection: [[UInt8]]?
        var detectionHDU: Int?
        var detectionLayer: ImageLayer?
        /// The artificial stars in the image.
        var injection: Injection?
        var configuration: ScanConfiguration?
        /// The digest of the image's background.
        var background: [UInt8]?
        /// The side of the picture.
        var side: Int?
    }

    /// Makes the key, or returns `nil` if the content cannot be encoded.
    init?(_ content: ScanContent) {
        guard let digest = try? CacheKey.digest(of: content) else { return nil }
        self.init(digest: digest)
    }
}
