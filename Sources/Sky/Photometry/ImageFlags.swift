/// What is wrong with the pixels of a source (`IMAFLAGS_ISO`). SExtractor has the bits of a map of flags there that somebody made; these
/// are the scan's own.
public struct ImageFlags: OptionSet, Hashable, Sendable {
    /// A bit for each.
    public let rawValue: Int

    /// Those whose bits are set.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// A pixel is sharper than stars of the image can make it: a hot pixel or a cosmic ray, alone or on a source.
    public static let sharp = ImageFlags(rawValue: 1)

    /// Tells which sources are sharper than stars, where it is known well how wide these are; where not, nothing is said against any.
    ///
    /// - Parameter seeing: How wide the image's stars are.
    package static func judge(_ sources: inout [Source], seeing: Seeing?) {
        let limit = seeing.flatMap { $0.doubt == nil ? Sharpness.limit($0) : nil } ?? .infinity
        for index in sources.indices {
            sources[index].imageFlags = sources[index].sharpness > limit ? ImageFlags.sharp.rawValue : 0
        }
    }
}
