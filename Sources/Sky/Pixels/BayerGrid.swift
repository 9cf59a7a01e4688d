/// The pixels of one colour of a colour camera's frame: every second pixel of every second row. They are an image of their own.
public struct BayerGrid: Hashable, Codable, Sendable {
    /// The order of the camera's colours.
    public var pattern: BayerPattern
    /// The colour that is scanned.
    public var colour: BayerPattern.Colour

    /// The pixels of a colour.
    public init(_ pattern: BayerPattern, _ colour: BayerPattern.Colour) {
        (self.pattern, self.colour) = (pattern, colour)
    }

    /// The distance of two neighbouring pixels of the same colour, in pixels of the frame.
    package static let step = 2

    /// The colour's first pixel in the frame, from 0.
    private var first: (x: Int, y: Int) { pattern.place(of: colour) }

    /// The size of a colour's image; `nil` if the frame has no pixel of the colour.
    package func size(ofFrame width: Int, _ height: Int) -> (width: Int, height: Int)? {
        guard width > first.x, height > first.y else { return nil }
        return ((width - first.x + 1) / Self.step, (height - first.y + 1) / Self.step)
    }

    /// The part of the frame from the first to the last pixel of a part of the colour's image.
    package func frame(_ rect: PixelRect) -> PixelRect {
        PixelRect(
            x: rect.x * Self.step + first.x, y: rect.y * Self.step + first.y, width: rect.width * Self.step - 1,
            height: rect.height * Self.step - 1)
    }

    /// The place in the frame of a position in the colour's image. Both count the first pixel's centre as (1, 1).
    package func frame(x: Double, y: Double) -> (x: Double, y: Double) {
        (Double(Self.step) * (x - 1) + Double(first.x + 1), Double(Self.step) * (y - 1) + Double(first.y + 1))
    }
}
