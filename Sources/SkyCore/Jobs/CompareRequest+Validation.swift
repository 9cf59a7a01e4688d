package import Transport

extension CompareRequest: ValidatedMessage {
    package func validate() throws(InvalidMessage) {
        try InvalidMessage.unless(
            (1...CompareRequest.workLimit).contains(work.count),
            "a comparison has 1 to \(CompareRequest.workLimit) parts")
        try new.validate()
        try old.validate()
        for part in work { try part.validate() }
    }
}

extension CompareRequest.Image: ValidatedMessage {
    // A background's own decoder refuses one that fits no image.
    package func validate() throws(InvalidMessage) { try reference.validate() }
}

extension CompareRequest.Work: ValidatedMessage {
    /// Changes that one task draws: each is some 200 kB of pictures.
    static let cutoutLimit = 1000

    package func validate() throws(InvalidMessage) {
        switch self {
        case .difference(let order):
            try InvalidMessage.of { () throws(SkyError) in try order.validate() }
        case .cutouts(let changes, let order):
            try InvalidMessage.unless(
                changes.count <= CompareRequest.Work.cutoutLimit, "\(changes.count) changes to be drawn by one task")
            try InvalidMessage.of { () throws(SkyError) in
                try order.validate()
                for change in changes { try change.validate() }
            }
        }
    }
}
