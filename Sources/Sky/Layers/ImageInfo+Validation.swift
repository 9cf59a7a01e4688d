import Base

extension ImageInfo {
    /// The numbers of HDUs that a request may name.
    static let hdus = 0..<10_000
    /// The largest number of cards of a header, and of bytes in each. (A FITS card has 80 characters, but cfitsio may return
    /// other than ASCII.)
    private static let cardLimit = (count: 200_000, bytes: 400)
    /// The largest number of images of one file, and of bytes of the description of each image that is not of the sky.
    private static let imageLimit = (count: 10_000, bytes: 1000)

    package func validate() throws(SkyError) {
        try SkyError.unless(
            ImageInfo.canBeScanned(width: width, height: height), "an image of \(width) x \(height) pixels")
        try SkyError.unless(
            [hdu, noiseHDU ?? 0, maskHDU ?? 0].allSatisfy(ImageInfo.hdus.contains), "an HDU that cannot be asked for")
        let cards = header ?? []
        try SkyError.unless(
            cards.count <= ImageInfo.cardLimit.count && cards.allSatisfy { $0.utf8.count <= ImageInfo.cardLimit.bytes },
            "a header of more than \(ImageInfo.cardLimit.count) cards")
        let (images, others) = (images ?? [], auxiliaries ?? [])
        try SkyError.unless(
            images.count <= ImageInfo.imageLimit.count && others.count <= ImageInfo.imageLimit.count
                && images.allSatisfy(ImageInfo.hdus.contains)
                && others.allSatisfy { $0.utf8.count <= ImageInfo.imageLimit.bytes },
            "a file of more than \(ImageInfo.imageLimit.count) images")
        let missing = missingCoordinates ?? ""
        try SkyError.unless(
            missing.utf8.count <= MissingCoordinates.textLimit
                && missing.unicodeScalars.allSatisfy(PrintableText.holds),
            "words about coordinates that are not one line of at most \(MissingCoordinates.textLimit) bytes")
        for content in [content, noiseContent, maskContent] { try content?.validate() }
        try cube?.validate()
        try place?.validate()
        try layer?.validate()
        try ownCompanions?.validate()
        try detection?.validate()
        // The holder goes to the nodes with every task, and their own check must not refuse a value that this one accepts.
        try SkyError.unless(
            (holder?.name.utf8.count ?? 0) <= PixelHolder.nameLimit,
            "a node whose name has more than \(PixelHolder.nameLimit) bytes")
    }
}
