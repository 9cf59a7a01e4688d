package import Transport

extension ScanTask: ValidatedMessage {
    /// Bytes of what people call a task: "large objects 12".
    static let labelLimit = 256

    package func validate() throws(InvalidMessage) {
        try InvalidMessage.unless(
            label.utf8.count <= ScanTask.labelLimit, "a task's label of \(label.utf8.count) bytes")
        try work.validate()
    }
}

extension ScanTask.Work: ValidatedMessage {
    package func validate() throws(InvalidMessage) {
        switch self {
        case .simulate(let simulation):
            try InvalidMessage.unless(
                (.zero...JobRequest.longestTimeLimit).contains(simulation.duration),
                "a simulated task takes 0 to 86400 seconds")
        case .inspect(let image, withContent: _):
            try image.validate()
        case .background(let image, let sector, let configuration),
            .seeing(let image, let sector, _, let configuration),
            .extract(let image, let sector, _, let configuration):
            try image.validate()
            try InvalidMessage.of { () throws(SkyError) in
                try sector.validate()
                try configuration.validate()
            }
        case .join(let image, let union, _, let configuration):
            try image.validate()
            try InvalidMessage.of { () throws(SkyError) in
                try union.validate()
                try configuration.validate()
            }
        case .compare(let new, let old, let work):
            try new.validate()
            try old.validate()
            try work.validate()
        case .pixels(let request):
            if let objection = request.objection { throw InvalidMessage(objection) }
        case .preview(let image, let side):
            try image.validate()
            try InvalidMessage.unless(ImagePreview.sides.contains(side), "a picture of \(side) pixels")
        }
    }
}

extension InvalidMessage {
    /// Says of a value's own check what a message's check says.
    static func of(_ check: () throws(SkyError) -> Void) throws(InvalidMessage) {
        do {
            try check()
        } catch {
            throw InvalidMessage(error.message)
        }
    }
}

extension ImageReference: ValidatedMessage {
    /// Bytes of a path, `PATH_MAX` of Linux.
    static let pathLimit = 4096

    package func validate() throws(InvalidMessage) {
        try ImageReference.validate(path: path, hdu: hdu)
        try holder?.validate()
        try detection?.validate()
        try InvalidMessage.of { () throws(SkyError) in
            try layer?.validate()
            try content?.validate()
            try companions?.validate()
            try injection?.validate()
        }
    }

    static func validate(path: String, hdu: Int?) throws(InvalidMessage) {
        try InvalidMessage.unless(
            path.hasPrefix("/") && path.utf8.count <= pathLimit && !path.utf8.contains(0),
            "an image's path must be absolute and of at most \(pathLimit) bytes")
        if let hdu {
            try InvalidMessage.unless(ImageInfo.hdus.contains(hdu), "HDU \(hdu): it must be 0 to 9999")
        }
    }
}

extension PixelHolder: ValidatedMessage {
    package func validate() throws(InvalidMessage) {
        try InvalidMessage.unless(name.utf8.count <= ScanTask.labelLimit, "a node's name of \(name.utf8.count) bytes")
    }
}
