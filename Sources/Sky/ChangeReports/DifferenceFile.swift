import Base

/// The difference of two images and its noise as a FITS file (`--difference`): put together part by part, then written.
package struct DifferenceFile: Sendable {
    private let info: ImageInfo
    /// NaN where nothing was compared.
    private var difference: [Float]
    private var noise: [Float]

    /// What its name ends with.
    package static let ending = ".difference.fits"

    /// - Parameter info: Of the new image, as its catalogue has it.
    /// - Throws: as ``check(_:)``.
    package init(of info: ImageInfo) throws(SkyError) {
        try Self.check(info)
        self.info = info
        difference = [Float](repeating: .nan, count: info.width * info.height)
        noise = difference
    }

    /// To be asked before anything of an image is written.
    ///
    /// - Throws: `.badInput` for an image of more pixels than are put together in memory.
    package static func check(_ info: ImageInfo) throws(SkyError) {
        let (area, overflow) = info.width.multipliedReportingOverflow(by: info.height)
        guard !overflow, area <= CheckImage.pixelLimit else {
            throw SkyError(
                .badInput,
                "--difference goes with images of up to \(CheckImage.pixelLimit) pixels, not \(info.width) x \(info.height)"
            )
        }
    }

    /// Takes in a part; what does not fit the image is left out.
    package mutating func add(_ planes: DifferencePlanes) {
        let core = planes.core
        guard info.contains(core), planes.isSound(of: core) else { return }
        planes.difference.copy(to: core, of: &difference, width: info.width)
        planes.noise.copy(to: core, of: &noise, width: info.width)
    }

    /// Writes it whole or not at all.
    ///
    /// - Parameters:
    ///   - catalogue: Of the new image: its header says where the pixels lie in the sky.
    ///   - reference: What the image was compared with.
    /// - Throws: `SkyError` naming the file and the reason.
    package func write(to path: String, catalogue: Catalogue, image: String, reference: String) throws(SkyError) {
        let cards = (catalogue.info.header ?? []).filter(ImageCards.isOfPlace)
        try FITSWriter.write(to: path) { writer in
            writer.emptyImage()
            writer.card(FITSCard("CREATOR", .text("skynode " + SkyNetVersion.current), "program that made this"))
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
