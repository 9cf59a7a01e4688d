import Base

/// The content of an array of more than two axes: images of one size, the planes.
public struct ImageCube: Hashable, Codable, Sendable {
    /// The number of planes, over all axes beyond the second.
    public var planes: Int
    /// Whether the planes are the three colours of one photograph, and not layers of something else.
    public var isColourImage: Bool

    /// A cube of `planes` planes.
    public init(planes: Int, isColourImage: Bool) {
        (self.planes, self.isColourImage) = (planes, isColourImage)
    }

    /// The number of planes of a colour photograph.
    public static let colours = 3

    /// - Parameter type: The type of the third axis (`CTYPE3`). An axis with a name of its own, such as a frequency, is not
    ///   one of colours.
    package init(planes: Int, higherAxes: [Int], type: String?) {
        let type = (type ?? "").uppercased()
        let isColour = type.isEmpty || type.contains("RGB") || type.contains("COLO")
        self.init(
            planes: planes,
            isColourImage: isColour && planes == ImageCube.colours && higherAxes.first == ImageCube.colours)
    }

    /// Checks a value that comes from another process.
    package func validate() throws(SkyError) {
        try SkyError.unless(planes >= 2, "a cube of \(planes) planes")
    }
}
