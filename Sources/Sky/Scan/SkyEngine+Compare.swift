import Base

extension SkyEngine {
    /// Does one part of a comparison of two images.
    package func compare(
        _ new: CompareRequest.Image, _ old: CompareRequest.Image, _ work: CompareRequest.Work
    ) throws(SkyError) -> ComparedPart {
        let (new, old) = (try epoch(new, .new), try epoch(old, .old))
        switch work {
        case .difference(let order): return .difference(try DifferenceScan(new: new, old: old, order: order).run())
        case .cutouts(let changes, let order):
            var pictures: [EpochCutouts] = []
            var painter = CutoutPainter(new: new, old: old, order: order)
            for change in changes { pictures.append(try painter.cutouts(of: change)) }
            return .cutouts(pictures)
        }
    }

    private func epoch(_ image: CompareRequest.Image, _ age: Age) throws(SkyError) -> EpochImage {
        let reference = image.reference
        return try EpochImage(
            self.image(reference.path, reference.hdu, reference.layer, reference.companions, age),
            background: image.background)
    }
}
