/// Two images of the same sky to be compared, and the work on them. It is made where both catalogues are known.
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

    /// The part of one task.
    package enum Work: Codable, Sendable {
        /// Find the differences in a sector of the new image.
        case difference(DifferenceOrder)
        /// Draw some changes.
        case cutouts([EpochChange], DifferenceOrder)
    }

    package var new: Image
    package var old: Image
    package var work: [Work]

    /// The largest number of sectors and drawings of one job.
    package static let workLimit = 100_000

    package init(new: Image, old: Image, work: [Work]) {
        (self.new, self.old, self.work) = (new, old, work)
    }
}

/// The result of one task of a comparison.
package enum ComparedPart: Codable, Sendable {
    case difference(DifferenceResult)
    /// The pictures of each change, in the order of the changes.
    case cutouts([EpochCutouts])
}
