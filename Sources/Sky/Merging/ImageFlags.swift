/// What is wrong with the pixels of a source (`IMAFLAGS_ISO`). In SExtractor these are the bits of a map of flags that the user
/// supplies; here they are the scan's own.
public struct ImageFlags: OptionSet, Hashable, Sendable {
    /// One bit for each flag.
    public let rawValue: Int

    /// The flags whose bits are set.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// A pixel is sharper than the stars of the image can make it: it is a hot pixel or a cosmic ray, alone or on a source.
    public static let sharp = ImageFlags(rawValue: 1)

    /// Marks the sources that are sharper than stars. If the width of the stars is not well known, no source is marked.
    ///
    /// - Parameter seeing: How wide the image's stars are.
    package static func judge(_ sources: inout [Source], seeing: Seeing?) {
        let limit = seeing.flatMap { $0.doubt == nil ? Sharpness.limit($0) : nil } ?? .infinity
        for index in sources.indices {
            sources[index].imageFlags = sources[index].sharpness > limit ? ImageFlags.sharp.rawValue : 0
        }
    }
}
