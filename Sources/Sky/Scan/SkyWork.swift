import Base

/// A piece of work on images. It needs nothing but the images and its own values.
package enum SkyWork: Codable, Sendable {
    /// Read the header: is it an image, and how large; and if asked for, what the whole file holds.
    case inspect(ImageReference, withContent: Bool?)
    /// Measure the background meshes of one sector's core.
    case background(ImageReference, Sector, ScanConfiguration)
    /// Measure how wide the stars of one sector are.
    case seeing(ImageReference, Sector, BackgroundMap, ScanConfiguration)
    /// Find and measure the sources of one sector.
    case extract(ImageReference, Sector, BackgroundMap, ScanConfiguration)
    /// Measure the objects that are larger than their sectors.
    case join(ImageReference, SectorUnion, BackgroundMap, ScanConfiguration)
    /// Draw the whole image in reduced size, for the picture; and if asked for, encode that.
    case preview(ImageReference, maximumSide: Int, encodes: Bool? = nil)
}

extension SkyWork {
    /// The image that the work is on.
    package var image: ImageReference {
        switch self {
        case .inspect(let image, _), .background(let image, _, _), .seeing(let image, _, _, _),
            .extract(let image, _, _, _), .join(let image, _, _, _), .preview(let image, _, _):
            image
        }
    }

    /// The pixels that the work needs for certain, if it works on a part of an image.
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

    /// About how much memory the work takes. The background that comes with it takes the most.
    package var byteCount: Int {
        switch self {
        case .seeing(let image, _, let background, _), .extract(let image, _, let background, _),
            .join(let image, _, let background, _):
            1024 + background.byteCount + (image.detection?.background?.byteCount ?? 0)
        case .inspect, .background, .preview: 1024
        }
    }

    /// - Throws: `.badInput` if the work cannot be done.
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
        case .preview(let image, let side, encodes: _):
            try image.validate()
            try SkyError.unless(ImagePreview.sides.contains(side), "a picture of \(side) pixels")
        }
    }
}

/// The result of a piece of work.
package enum SkyResult: Codable, Sendable {
    case inspected(ImageInfo)
    case background(BackgroundTile)
    case seeing(StarWidths)
    case extracted(SectorResult)
    case joined(JoinedObjects)
    case preview(ImagePreview)
}
