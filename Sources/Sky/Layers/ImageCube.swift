import Base

/// What an array of more than two axes holds: images of one size, the planes.
public struct ImageCube: Hashable, Codable, Sendable {
    /// How many, over all axes beyond the second.
    public var planes: Int
    /// Whether they are the three colours of one photograph, and not layers of something else.
    public var isColourImage: Bool

    /// A cube of so many planes.
    public init(planes: Int, isColourImage: Bool) {
        (self.planes, self.isColourImage) = (planes, isColourImage)
    }

    /// Planes of a photograph in colours.
    public static let colours = 3

    /// - Parameter type: of the third axis (`CTYPE3`): one that has a name of its own, as a frequency, is no colour.
    package init(planes: Int, higherAxes: [Int], type: String?) {
        let type = (type ?? "").uppercased()
        let isColour = type.isEmpty || type.contains("RGB") || type.contains("COLO")
        self.init(
            planes: planes,
            isColourImage: isColour && planes == ImageCube.colours && higherAxes.first == ImageCube.colours)
    }

    /// What came with somebody else's word for it.
    package func validate() throws(SkyError) {
        try SkyError.unless(planes >= 2, "a cube of \(planes) planes")
    }
}
