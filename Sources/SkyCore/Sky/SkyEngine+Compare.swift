extension SkyEngine {
    /// A part of a comparison of two images.
    func compare(
        _ new: CompareRequest.Image, _ old: CompareRequest.Image, _ work: CompareRequest.Work
    ) throws(SkyError) -> ComparedPart {
        let (new, old) = (try epoch(new, .new), try epoch(old, .old))
        switch work {
        case .difference(let order): return .difference(try DifferenceScan(new: new, old: old, order: order).run())
        case .cutouts(let changes, let order):
            var pictures: [EpochCutouts] = []
            for change in changes { pictures.append(try EpochCutouts(of: change, new: new, old: old, order: order)) }
            return .cutouts(pictures)
        }
    }

    private func epoch(_ image: CompareRequest.Image, _ age: Age) throws(SkyError) -> EpochImage {
        let reference = image.reference
        let opened = try self.image(reference.path, reference.hdu, reference.companions, age)
        let wcs = opened.wcs
        return try EpochImage(
            info: opened.info, background: image.background,
            sky: { points in wcs?.sky(points) ?? points.map { _ in nil } },
            source: { rect throws(SkyError) in try opened.read(rect).values })
    }
}
