/// Two images of the same sky to be compared, and what is to be done: decided by whoever has both catalogues.
package struct CompareRequest: Codable, Sendable {
    /// An image that has been scanned.
    package struct Image: Codable, Sendable {
        package var reference: ImageReference
        package var background: BackgroundMap

        package init(reference: ImageReference, background: BackgroundMap) {
            self.reference = reference
            self.background = background
        }
    }

    /// One task's part.
    package enum Work: Codable, Sendable {
        /// Look for what differs in a sector of the new image.
        case difference(DifferenceOrder)
        /// Draw some changes.
        case cutouts([EpochChange], DifferenceOrder)
    }

    package var new: Image
    package var old: Image
    package var work: [Work]

    /// Sectors and drawings of one job.
    package static let workLimit = 100_000

    package init(new: Image, old: Image, work: [Work]) {
        (self.new, self.old, self.work) = (new, old, work)
    }
}

/// What one task of a comparison came to.
package enum ComparedPart: Codable, Sendable {
    case difference(DifferenceResult)
    /// One for each change, in their order.
    case cutouts([EpochCutouts])
}
