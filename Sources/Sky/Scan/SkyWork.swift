import Base

/// A piece of work on images, which needs nothing but them and what it carries.
package enum SkyWork: Codable, Sendable {
    /// Look at the header: is it an image, how large; and, if wanted, what does the whole file hold.
    case inspect(ImageReference, withContent: Bool?)
    /// Measure the background meshes of one sector's core.
    case background(ImageReference, Sector, ScanConfiguration)
    /// Measure how wide the stars of one sector are.
    case seeing(ImageReference, Sector, BackgroundMap, ScanConfiguration)
    /// Find and measure the sources of one sector.
    case extract(ImageReference, Sector, BackgroundMap, ScanConfiguration)
    /// Measure the objects that are larger than their sectors.
    case join(ImageReference, SectorUnion, BackgroundMap, ScanConfiguration)
    /// Draw the whole image small, for the picture.
    case preview(ImageReference, maximumSide: Int)
}

extension SkyWork {
    /// The pixels that it needs for certain, where it works on a part of an image.
    package var pixels: (image: ImageReference, hdu: Int?, rect: PixelRect)? {
        switch self {
        case .background(let image, let sector, let configuration): (image, configuration.hdu, sector.core)
        case .seeing(let image, let sector, _, let configuration),
            .extract(let image, let sector, _, let configuration):
            (image, configuration.hdu, sector.padded)
        case .join(let image, let union, _, let configuration): (image, configuration.hdu, union.rect)
        case .inspect, .preview: nil
        }
    }

    /// About what it takes in memory: the backgrounds that come with it are the most.
    package var byteCount: Int {
        switch self {
        case .seeing(let image, _, let background, _), .extract(let image, _, let background, _),
            .join(let image, _, let background, _):
            1024 + background.byteCount + (image.detection?.background?.byteCount ?? 0)
        case .inspect, .background, .preview: 1024
        }
    }

    /// - Throws: `.badInput` for what cannot be worked on.
    package func check() throws(SkyError) {
        switch self {
        case .inspect(let image, withContent: _):
            try image.validate()
        case .background(let image, let sector, let configuration),
            .seeing(let image, let sector, _, let configuration),
            .extract(let image, let sector, _, let configuration):
            try image.validate()
            try sector.validate()
            try configuration.validate()
        case .join(let image, let union, _, let configuration):
            try image.validate()
            try union.validate()
            try configuration.validate()
        case .preview(let image, let side):
            try image.validate()
            try SkyError.unless(ImagePreview.sides.contains(side), "a picture of \(side) pixels")
        }
    }
}

/// What a piece of work came to.
package enum SkyResult: Codable, Sendable {
    case inspected(ImageInfo)
    case background(BackgroundTile)
    case seeing(StarWidths)
    case extracted(SectorResult)
    case joined(JoinedObjects)
    case preview(ImagePreview)
}
