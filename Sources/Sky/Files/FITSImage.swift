import Base
import CCFITSIO
import Glibc

/// One 2-D image of a FITS file that is open for reading. The file may be plain, gzipped or tile-compressed, and the image may
/// be in an extension, be a plane of a cube, or be one colour of a colour camera's frame.
///
/// Its calls block, and cfitsio may crash on a hostile file: use it in a worker process only, on one thread.
package final class FITSImage {
    /// The path as the user gave it.
    package let path: String
    /// Size, number type and place of the image.
    package let info: ImageInfo
    /// The image's celestial coordinates; `nil` where its header has none.
    package let wcs: WCSTransform?

    private let file: FITSFile
    /// The pixels, if they can be read without cfitsio; otherwise `nil`.
    private let plain: PlainPixels?
    /// Which part of the HDU the image is.
    package let layer: ImageLayer
    /// The place of its plane along the axes beyond the second.
    package let plane: [Int]
    /// Sizes of all its axes.
    private let sizes: [Int]
    /// Whether the coordinates are those of the primary header.
    private let inheritsCoordinates: Bool

    /// Opens `path` and moves to the image.
    ///
    /// - Parameters:
    ///   - location: Where the file is, if it is known by another path.
    ///   - hdu: The HDU to read, 0 for the primary; `nil` takes the first that holds an image of the sky.
    ///   - layer: The part of the HDU that is the image.
    /// - Throws: `.unavailable` where this node cannot reach the file, `.badInput` where it is no image.
    package init(
        path: String, at location: String? = nil, hdu: Int?, layer: ImageLayer = ImageLayer()
    ) throws(SkyError) {
        try FITSSniff.check(path: location ?? path, named: path)
        let file = try FITSFile(path: path, at: location)
        let shape: FITSFile.Shape
        if let hdu {
            shape = try file.moveToImage(hdu: hdu)
        } else {
            shape = try file.moveToFirstImage(prefersCubes: (layer.plane ?? 1) > 1)
        }
        guard ImageInfo.canBeScanned(width: shape.width, height: shape.height) else {
            throw SkyError(
                .badInput,
                "\(file.name): \(shape.width) x \(shape.height) pixels is more than the \(ImageInfo.pixelLimit) that can be"
                    + " scanned; cut the image up first")
        }
        let planes = shape.planes ?? 1
        guard (1...planes).contains(layer.plane ?? 1) else {
            throw SkyError(
                .badInput,
                "\(file.name): there is no plane \(layer.plane ?? 1); HDU \(shape.hdu) has "
                    + (planes == 1 ? "one" : "\(planes), counted from 1"))
        }
        guard let size = layer.bayer.map({ $0.size(ofFrame: shape.width, shape.height) }) ?? (shape.width, shape.height)
        else {
            throw SkyError(
                .badInput, "\(file.name): \(shape.width) x \(shape.height) pixels are no frame of a colour camera")
        }
        plane = shape.place(ofPlane: layer.plane ?? 1)
        sizes = [shape.width, shape.height] + shape.higherAxes
        let coordinates = Self.coordinates(of: file, hdu: shape.hdu, plane: planes > 1 ? plane : nil)
        inheritsCoordinates = coordinates.areInherited
        plain =
            layer.bayer == nil && layer.scale == nil && layer.flags == nil
            ? file.plainPixels(shape, plane: plane) : nil
        self.path = path
        self.file = file
        self.layer = layer
        wcs = coordinates.found.transform
        wcs?.bayer = layer.bayer
        var info = ImageInfo(
            width: size.width, height: size.height, bitpix: shape.bitpix, hdu: shape.hdu, hasWCS: wcs != nil)
        info.missingCoordinates = coordinates.found.missing?.words
        if planes > 1 {
            info.cube = ImageCube(planes: planes, higherAxes: shape.higherAxes, type: file.text("CTYPE3"))
        }
        self.info = info
        try checkEnd()
    }

    /// The image's own coordinates, or those of a primary header without an image.
    private static func coordinates(
        of file: FITSFile, hdu: Int, plane: [Int]?
    ) -> (found: Result<WCSTransform, MissingCoordinates>, areInherited: Bool) {
        let read = { (header: UnsafeMutablePointer<CChar>, cards: Int32) in
            Result { () throws(MissingCoordinates) in
                try WCSTransform(header: header, cards: cards, plane: plane, table: file.lookupTable)
            }
        }
        let own = file.withHeaderText(read) ?? .failure(.absent)
        // Coordinates of the image's own count even if they cannot be used.
        guard let missing = own.missing, !missing.isUnusable,
            let inherited = file.withPrimaryHeader(hdu: hdu, read)
        else { return (own, false) }
        let isFound = inherited.transform != nil
        return (isFound || missing == .absent ? inherited : own, isFound)
    }

    /// The images of the file that are scanned if the user names no HDU, as HDU numbers, and in words the images that are not
    /// scanned: weights, errors, masks, and cubes if there are images of one plane.
    package func images() -> (sky: [Int], others: [String]) {
        let prefersCubes = (layer.plane ?? 1) > 1
        let (images, damaged) = file.images(leavingAt: info.hdu)
        var others = images.leftOut(prefersCubes: prefersCubes)
        if let damaged { others.append("HDU \(damaged) and what follows it (\(Self.damagedWords))") }
        return (images.scanned(prefersCubes: prefersCubes).map(\.hdu), others)
    }

    private static let damagedWords = "its header is damaged"

    /// Whether an image is left out because its header is damaged.
    package static func saysDamaged(_ words: String) -> Bool { words.hasSuffix("(\(damagedWords))") }

    /// Where the file itself holds a mask, a variance or a weight for each pixel of this image.
    package func ownCompanions() -> Companions? {
        let images = file.images(leavingAt: info.hdu).images
        var companions = Companions()
        if let mask = images.companion(of: info.hdu, { $0 == .mask })?.image {
            companions.mask = Companions.Image(path: path, hdu: mask.hdu)
            companions.mask?.layer = layer(ofCompanion: mask, flags: rule(of: mask))
        }
        let noises: [Companions.NoiseKind] = [.weight, .variance]
        for kind in noises where companions.noise == nil {
            guard let noise = images.companion(of: info.hdu, { $0 == .noise(kind) })?.image else { continue }
            companions.noise = Companions.Image(path: path, hdu: noise.hdu)
            companions.noise?.layer = layer(ofCompanion: noise, flags: nil)
            companions.kind = kind
        }
        return companions.isEmpty ? nil : companions
    }

    private func layer(ofCompanion image: FileImage, flags: MaskRule?) -> ImageLayer {
        var layer = self.layer.ofCompanion
        if image.isFlat { layer.plane = nil }
        layer.flags = flags
        return layer
    }

    /// The rule that says which values of a mask mark a bad pixel.
    private func rule(of mask: FileImage) -> MaskRule {
        let telescope = file.withKeywords(ofHDU: 0) { $0.text("TELESCOP") ?? "" }
        let product = file.withKeywords(ofHDU: 0) { $0.text("PRODTYPE") ?? "" }
        let own = file.withKeywords(ofHDU: mask.hdu) {
            ($0.bitNumbers, $0.text("PRODTYPE") ?? product, $0.text("TELESCOP") ?? telescope)
        }
        _ = try? file.moveToImage(hdu: info.hdu)
        return MaskRule(bitNumbers: own.0, product: own.1, telescope: own.2)
    }

    /// The header's cards without END, 80 characters each, as those of an image that is not compressed. The cards of the
    /// primary header that hold for all images of the file follow: the date and the camera's values, and the coordinates if the
    /// image has none of its own.
    package var header: [String] {
        let own = file.withHeaderText(Self.cards) ?? []
        let primary = file.withPrimaryHeader(hdu: info.hdu, Self.cards) ?? []
        let known = Set(own.map { $0.prefix(8) })
        return own
            + primary.filter { card in
                let keyword = card.prefix(8)
                guard !known.contains(keyword) else { return false }
                return Self.isOfCamera(keyword) || (inheritsCoordinates && Self.isOfCoordinates(keyword))
            }
    }

    /// The bytes of the cards of the header that holds the image's coordinates; empty if there are no coordinates.
    package var coordinates: [UInt8] {
        guard wcs != nil else { return [] }
        let bytes = { (text: UnsafeMutablePointer<CChar>, count: Int32) in
            [UInt8](UnsafeRawBufferPointer(start: text, count: Int(count) * 80))
        }
        let found =
            inheritsCoordinates ? file.withPrimaryHeader(hdu: info.hdu, bytes) : file.withHeaderText(bytes)
        return found ?? []
    }

    /// The tables of distortions that the coordinates need.
    package var lookupTables: [LookupTable] { wcs?.tables ?? [] }

    private static func cards(_ text: UnsafeMutablePointer<CChar>, _ count: Int32) -> [String] {
        let bytes = UnsafeRawBufferPointer(start: text, count: Int(count) * 80)
        return (0..<min(Int(count), cardLimit)).compactMap { index in
            let card = bytes[index * 80..<(index + 1) * 80]
            // A byte that FITS does not allow in text is of no use to a reader.
            let text = String(decoding: card.map { (0x20...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
            return text.hasPrefix("END     ") ? nil : text
        }
    }

    /// Whether a keyword is about the camera, the light or the moment; these hold for all images of a file.
    private static func isOfCamera(_ keyword: Substring) -> Bool {
        ImageKeywords.inherited.contains(keyword.prefix { $0 != " " })
    }

    /// Whether a keyword is one of FITS's papers on coordinates, or one of SIP.
    private static func isOfCoordinates(_ keyword: Substring) -> Bool {
        let names = ["WCSAXES ", "RADESYS ", "RADECSYS", "EQUINOX ", "EPOCH   ", "LONPOLE ", "LATPOLE "]
        let beginnings = [
            "CTYPE", "CRVAL", "CRPIX", "CUNIT", "CDELT", "CROTA", "CD1_", "CD2_", "PC1_", "PC2_", "PV1_", "PV2_", "A_",
            "B_", "AP_", "BP_",
        ]
        return names.contains { $0 == keyword } || beginnings.contains { keyword.hasPrefix($0) }
    }

    /// No real header has more cards than this. There is a limit because the cards go over the wire.
    private static let cardLimit = 10_000

    /// The pixels of `rect`, row by row, with BSCALE and BZERO applied. A value that cannot be computed with (BLANK, NaN, an
    /// infinity, beyond +-1e30) comes as NaN.
    ///
    /// - Throws: `.badInput` where the rectangle leaves the image or the file's data are damaged.
    package func read(_ rect: PixelRect) throws(SkyError) -> [Float] {
        guard info.contains(rect) else {
            throw SkyError(
                .badInput,
                "\(file.name): the rectangle \(rect) is not inside its \(info.width) x \(info.height) pixels;"
                    + " did the file change?")
        }
        // If a plain file cannot be read, cfitsio says why.
        if let pixels = plain?.read(rect) { return pixels }
        guard layer.flags == nil, layer.scale == nil else { return try exact(rect).map(pixel) }
        var pixels = [Float](repeating: .nan, count: rect.width * rect.height)
        var status = file.read(stored(rect), into: &pixels)
        if status == FITSFile.numericalOverflow {
            // A 64-bit value that does not fit a Float stops cfitsio in the middle, so the values are read as they are.
            (pixels, status) = (try exact(rect).map { Float($0) }, 0)
        }
        guard status == 0 else { throw file.damaged(status, sizes: sizes) }
        pixels.withUnsafeMutableBufferPointer { buffer in
            // A choice without a branch lets the compiler handle several pixels at a time.
            for index in buffer.indices { buffer[index] = abs(buffer[index]) < 1e30 ? buffer[index] : .nan }
        }
        return pixels
    }

    /// The values of `rect` as they are in the file, NaN where there are none.
    private func exact(_ rect: PixelRect) throws(SkyError) -> [Double] {
        var values = [Double](repeating: .nan, count: rect.width * rect.height)
        let status = file.read(stored(rect), into: &values)
        guard status == 0 else { throw file.damaged(status, sizes: sizes) }
        return values
    }

    /// The place of the pixels of `rect` in the HDU.
    private func stored(_ rect: PixelRect) -> FITSFile.Part {
        FITSFile.Part(
            rect: layer.bayer?.frame(rect) ?? rect, plane: plane, step: layer.bayer == nil ? 1 : BayerGrid.step)
    }

    /// The pixel that the layer makes of a value.
    private func pixel(_ value: Double) -> Float {
        if let flags = layer.flags { return flags.isBad(value) ? 1 : 0 }
        let pixel = Float(layer.scale?.pixel(value) ?? value)
        return abs(pixel) < 1e30 ? pixel : .nan
    }

    /// The scale that turns the image's values into pixels; `nil` if 32-bit floats can hold the values.
    func neededScale() throws(SkyError) -> PixelScale? {
        guard layer.flags == nil else { return nil }
        let rows = try sample(rows: FITSImage.sampleRows, width: FITSImage.sampleWidth)
        guard rows.joined().allSatisfy({ !$0.isFinite }) else { return PixelScale(rows: rows) }
        // The sample has no values at all, but a mosaic may have its pixels elsewhere.
        return PixelScale(rows: try sample(rows: 8 * FITSImage.sampleRows, width: 8 * FITSImage.sampleWidth))
    }

    /// The values of some rows that are spread over the image, in the middle columns of each.
    private func sample(rows mostRows: Int, width mostColumns: Int) throws(SkyError) -> [[Double]] {
        let width = min(info.width, mostColumns)
        var rows: [[Double]] = []
        let count = min(info.height, mostRows)
        for row in 0..<count {
            // The row is the middle of one of `count` equal parts of the image.
            let y = (2 * row + 1) * info.height / (2 * count)
            let part = PixelRect(x: (info.width - width) / 2, y: y, width: width, height: 1)
            rows.append(try exact(part))
        }
        return rows
    }

    /// The size of a sample: enough pixels for a median, and too few to take noticeable time.
    private static let (sampleRows, sampleWidth) = (8, 1024)

    /// Reads the end of the last row, and that of a cube's last plane too. So a file that a failed copy cut short is found
    /// here, and not in the last sector or after other planes have been written.
    private func checkEnd() throws(SkyError) {
        let count = min(info.width, 4096)
        let tail = PixelRect(x: info.width - count, y: info.height - 1, width: count, height: 1)
        _ = try read(tail)
        let lastPlane = Array(sizes.dropFirst(2))
        guard lastPlane != plane else { return }
        var pixel = [Float.nan]
        let last = PixelRect(x: sizes[0] - 1, y: sizes[1] - 1, width: 1, height: 1)
        let status = file.read(FITSFile.Part(rect: last, plane: lastPlane), into: &pixel)
        guard status == 0 || status == FITSFile.numericalOverflow else { throw file.damaged(status, sizes: sizes) }
    }
}
