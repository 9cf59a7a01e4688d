/// An image of what a scan saw, to be looked at or worked with (SExtractor's `CHECKIMAGE_TYPE`).
package enum CheckImage: String, Codable, Hashable, Sendable, CaseIterable {
    /// Level of the sky (`BACKGROUND`).
    case background
    /// Noise of the sky, 1 sigma (`BACKGROUND_RMS`).
    case rms
    /// Without the sky (`-BACKGROUND`).
    case subtracted
    /// What was compared with the threshold: without the sky, filtered (`FILTERED`).
    case filtered
    /// The number of the source that each pixel belongs to, 0 for none (`SEGMENTATION`).
    case segmentation
    /// Without the sky, and 0 where there is no source (`OBJECTS`).
    case objects
    /// Without the sky, the outlines of apertures drawn over it (`APERTURES`).
    case apertures

    /// What its file's name ends with.
    package var ending: String { ".\(rawValue).fits" }

    /// What sectors must tell for it.
    package var parts: CheckParts {
        switch self {
        case .background, .rms: []
        case .subtracted, .apertures: .subtracted
        case .filtered: .filtered
        case .segmentation: .footprints
        case .objects: [.subtracted, .footprints]
        }
    }

    /// Pixels of an image that check images can be had of: each plane of it is half a gigabyte in memory.
    static let pixelLimit = 1 << 27
    /// Pixels of a sector that tells of its pixels, which travel as one message.
    package static let sectorLimit = 1 << 22
}

/// What sectors tell beside their sources, for check images.
package struct CheckParts: OptionSet, Hashable, Codable, Sendable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    static let subtracted = CheckParts(rawValue: 1)
    static let filtered = CheckParts(rawValue: 2)
    package static let footprints = CheckParts(rawValue: 4)
    package static let all: CheckParts = [.subtracted, .filtered, .footprints]

    init(of images: [CheckImage]) { self = images.reduce(into: []) { $0.formUnion($1.parts) } }

    /// Whether any of them is a plane of pixels.
    var hasPlanes: Bool { !isDisjoint(with: [.subtracted, .filtered]) }
}
