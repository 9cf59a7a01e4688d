import Base

extension CompareRequest {
    package func validate() throws(SkyError) {
        try SkyError.unless(
            (1...CompareRequest.workLimit).contains(work.count),
            "a comparison has 1 to \(CompareRequest.workLimit) parts")
        try new.validate()
        try old.validate()
        for part in work { try part.validate() }
    }
}

extension CompareRequest.Image {
    // The background is not checked here, because its own decoder refuses one that fits no image.
    package func validate() throws(SkyError) { try reference.validate() }
}

extension CompareRequest.Work {
    /// The largest number of changes that one task draws. Each has some 200 kB of pictures.
    static let cutoutLimit = 1000

    package func validate() throws(SkyError) {
        switch self {
        case .difference(let order):
            try order.validate()
        case .cutouts(let changes, let order):
            try SkyError.unless(
                changes.count <= CompareRequest.Work.cutoutLimit, "\(changes.count) changes to be drawn by one task")
            try order.validate()
            for change in changes { try change.validate() }
        }
    }
}
