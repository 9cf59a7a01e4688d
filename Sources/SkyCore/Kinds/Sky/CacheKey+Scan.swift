import Sky

extension CacheKey {
    /// What is digested. The image by what its file holds, not by where that lies.
    struct Identity: Codable {
        /// Of the file.
        var digest: [UInt8]
        /// Of the file, in bytes.
        var size: Int
        var hdu: Int?
        /// What of it.
        var layer: ImageLayer?
        var kind = ""
        var sector: Sector?
        var union: SectorUnion?
        /// Digests of the files of weights and mask, their HDUs, and what the weights are.
        var companions: [[UInt8]]?
        var companionHDUs: [Int?]?
        var companionLayers: [ImageLayer?]?
        var noiseKind: Companions.NoiseKind?
        /// Digests of the file on whose image sources are found and of that image's background, and what of the file it is.
        var detection: [[UInt8]]?
        var detectionHDU: Int?
        var detectionLayer: ImageLayer?
        /// Artificial stars in it.
        var injection: Injection?
        var configuration: ScanConfiguration?
        /// Digest of the image's background.
        var background: [UInt8]?
        /// Of the picture.
        var side: Int?
    }

    /// `nil` for what cannot be encoded.
    init?(_ identity: Identity) {
        guard let digest = try? CacheKey.digest(of: identity) else { return nil }
        self.digest = digest
    }
}
