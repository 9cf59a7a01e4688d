/// An image of what a scan saw, for people and programs (SExtractor's `CHECKIMAGE_TYPE`).
package enum CheckImage: String, Codable, Hashable, Sendable, CaseIterable {
    /// Level of the sky (`BACKGROUND`).
    case background
    /// Noise of the sky, 1 sigma (`BACKGROUND_RMS`).
    case rms
    /// The image without the sky (`-BACKGROUND`).
    case subtracted
    /// The pixels that are compared with the threshold: without the sky, filtered (`FILTERED`).
    case filtered
    /// The number of the source that each pixel belongs to, 0 for none (`SEGMENTATION`).
    case segmentation
    /// The image without the sky, and 0 where there is no source (`OBJECTS`).
    case objects
    /// The image without the sky, with the outlines of apertures drawn over it (`APERTURES`).
    case apertures

    /// The ending of its file's name.
    package var ending: String { ".\(rawValue).fits" }

    /// The data that sectors must return for it.
    package var parts: CheckParts {
        switch self {
        case .background, .rms: []
        case .subtracted, .apertures: .subtracted
        case .filtered: .filtered
        case .segmentation: .footprints
        case .objects: [.subtracted, .footprints]
        }
    }

    /// The largest number of pixels of an image that can have check images. Each array of that size takes half a gigabyte of
    /// memory.
    static let pixelLimit = 1 << 27
    /// The largest number of pixels of a sector that returns its pixels, because they go over the wire as one message.
    package static let sectorLimit = 1 << 22
}

/// The data that sectors return beside their sources, for check images.
package struct CheckParts: OptionSet, Hashable, Codable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    static let subtracted = CheckParts(rawValue: 1)
    static let filtered = CheckParts(rawValue: 2)
    package static let footprints = CheckParts(rawValue: 4)
    package static let all: CheckParts = [.subtracted, .filtered, .footprints]

    init(of images: [CheckImage]) { self = images.reduce(into: []) { $0.formUnion($1.parts) } }

    /// Whether any of the data is an array of pixels.
    var hasPlanes: Bool { !isDisjoint(with: [.subtracted, .filtered]) }
}
