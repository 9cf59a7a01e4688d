import Base

/// The difference of two images and its noise as a FITS file (`--difference`). The parts are added one by one, and then the
/// file is written.
package struct DifferenceFile: Sendable {
    private let info: ImageInfo
    /// The difference, NaN where the images were not compared.
    private var difference: [Float]
    private var noise: [Float]

    /// The ending of the file's name.
    package static let ending = ".difference.fits"

    /// - Parameter info: The information on the new image, from its catalogue.
    /// - Throws: The errors of ``check(_:)``.
    package init(of info: ImageInfo) throws(SkyError) {
        try Self.check(info)
        self.info = info
        difference = [Float](repeating: .nan, count: info.width * info.height)
        noise = difference
    }

    /// Checks the size of an image; call it before anything of the image is written.
    ///
    /// - Throws: `.badInput` for an image that has more pixels than can be put together in memory.
    package static func check(_ info: ImageInfo) throws(SkyError) {
        let (area, overflow) = info.width.multipliedReportingOverflow(by: info.height)
        guard !overflow, area <= CheckImage.pixelLimit else {
            throw SkyError(
                .badInput,
                "--difference goes with images of up to \(CheckImage.pixelLimit) pixels, not \(info.width) x \(info.height)"
            )
        }
    }

    /// Adds a part; a part that does not fit the image is left out.
    package mutating func add(_ planes: DifferencePixels) {
        let core = planes.core
        guard info.contains(core), planes.isSound(of: core) else { return }
        planes.difference.copy(to: core, of: &difference, width: info.width)
        planes.noise.copy(to: core, of: &noise, width: info.width)
    }

    /// Writes the file. It gets its place with the other files.
    ///
    /// - Parameters:
    ///   - catalogue: The catalogue of the new image, whose header says where the pixels lie in the sky.
    ///   - reference: The name of the image with which the new one was compared.
    /// - Throws: `SkyError` naming the file and the reason.
    package func write(
        to path: String, catalogue: Catalogue, image: String, reference: String, among files: StagedFiles
    ) throws(SkyError) {
        let cards = (catalogue.info.header ?? []).filter(ImageCards.isOfPlace)
        try FITSWriter.write(to: path, as: .difference, among: files) { writer in
            writer.emptyImage()
            for card in FITSCard.program(arithmetic: catalogue.arithmetic) { writer.card(card) }
            for (name, pixels, comment) in [
                ("DIFFERENCE", difference, "image less reference, as searched"),
                ("NOISE", noise, "its error, 1 sigma"),
            ] {
                let coding = PixelCoding(.float, for: pixels)
                writer.image(width: info.width, height: info.height, coding: coding)
                writer.card(FITSCard("EXTNAME", .text(name), comment))
                for card in cards { writer.record(card) }
                writer.card(FITSCard("NEWIMAGE", .text(image), "image that was compared"))
                writer.card(FITSCard("REFIMAGE", .text(reference), "reference that was taken from it"))
                writer.pixels(pixels, coding: coding)
            }
        }
    }
}

extension OutputKind {
    /// The difference of two images: a primary HDU without pixels, and that of the difference.
    package static let difference = OutputKind("difference", isFITS: true) { start in
        start.isMarked(hdus: 1) { cards in cards.contains { $0.hasPrefix("NAXIS   =") && $0.contains(" 0") } }
            && start.headers(2).last?.contains { $0.hasPrefix("EXTNAME = 'DIFFERENCE'") } == true
    }
}
