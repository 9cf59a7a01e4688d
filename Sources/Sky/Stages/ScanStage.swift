/// A stage of the work on one part of an image, as far as the time of the work is told apart.
package enum ScanStage: String, CaseIterable, Sendable {
    /// Open the file, read its header, and see that it still holds what it held.
    case open
    /// Read all of the file, or some blocks of it, for the digest of its content.
    case digest
    /// Read pixels from the file, or from the node that has it.
    case read
    /// Measure the background of the sky, and subtract it from the pixels.
    case background
    /// Filter the image and find what is above the threshold.
    case detection
    /// Split blends into sources.
    case deblending
    /// Measure the sources.
    case photometry
    /// Draw the picture, and what check images are made of.
    case draw
}
