import CCFITSIO
import Glibc

/// One 2-D image of a FITS file, open for reading: plain, gzipped, tile-compressed or in an extension.
///
/// Blocking, and cfitsio may crash on a hostile file: use it in a worker process only, by one thread.
package final class FITSImage {
    /// The path as the user gave it.
    package let path: String
    /// Size, number type and place of the image.
    package let info: ImageInfo
    /// The image's celestial coordinates; `nil` where its header has none.
    package let wcs: WCSTransform?

    private let file: FITSFile
    private let axes: Int
    /// Whether the coordinates are those of the primary header.
    private let inheritsCoordinates: Bool

    /// Opens `path` and moves to the image.
    ///
    /// - Parameter hdu: The HDU to read, 0 for the primary; `nil` takes the first that holds a 2-D image.
    /// - Throws: `.unavailable` where this node cannot reach the file, `.badInput` where it is no image.
    package init(path: String, hdu: Int?) throws(SkyError) {
        try FITSSniff.check(path: path)
        let file = try FITSFile(path: path)
        let shape: FITSFile.Shape
        if let hdu {
            shape = try file.moveToImage(hdu: hdu)
        } else {
            shape = try file.moveToFirstImage()
        }
        guard ImageInfo.canBeScanned(width: shape.width, height: shape.height) else {
            throw SkyError(
                .badInput,
                "\(file.name): \(shape.width) x \(shape.height) pixels is more than the \(ImageInfo.pixelLimit) that can be"
                    + " scanned; cut the image up first")
        }
        let coordinates = Self.coordinates(of: file, hdu: shape.hdu)
        inheritsCoordinates = coordinates.areInherited
        self.path = path
        self.file = file
        self.axes = shape.axes
        wcs = coordinates.found.transform
        var info = ImageInfo(
            width: shape.width, height: shape.height, bitpix: shape.bitpix, hdu: shape.hdu, hasWCS: wcs != nil)
        info.missingCoordinates = coordinates.found.missing?.words
        self.info = info
        try checkEnd()
    }

    /// The image's coordinates: its own, or those of a primary header without an image.
    private static func coordinates(
        of file: FITSFile, hdu: Int
    ) -> (found: Result<WCSTransform, MissingCoordinates>, areInherited: Bool) {
        let read = { (header: UnsafeMutablePointer<CChar>, cards: Int32) in
            Result { () throws(MissingCoordinates) in
                try WCSTransform(header: header, cards: cards, table: file.lookupTable)
            }
        }
        let own = file.withHeaderText(read) ?? .failure(.absent)
        // Coordinates of its own that are of no use are its coordinates all the same.
        guard let missing = own.missing, !missing.isUnusable,
            let inherited = file.withPrimaryHeader(hdu: hdu, read)
        else { return (own, false) }
        let isFound = inherited.transform != nil
        return (isFound || missing == .absent ? inherited : own, isFound)
    }

    /// The images of the file from this one on, by HDU, and those among them that are no pictures of the sky: weights, errors
    /// and masks go by their names.
    package func images() -> (sky: [Int], others: [String]) {
        var sky: [Int] = []
        var others: [String] = []
        let (images, damaged) = file.laterImages(from: info.hdu)
        for image in images {
            if image.hdu == info.hdu || !Self.isAuxiliary(image.name) {
                sky.append(image.hdu)
            } else {
                others.append("HDU \(image.hdu) (\(image.name))")
            }
        }
        if let damaged { others.append("HDU \(damaged) and what follows it (its header is damaged)") }
        return (sky, others)
    }

    /// Names that pipelines give to planes which belong to an image (HST and JWST data handbooks, LSST, the Legacy Surveys).
    private static func isAuxiliary(_ name: String) -> Bool {
        let name = name.uppercased()
        let names: Set = [
            "ERR", "ERROR", "ERRORS", "DQ", "QUALITY", "FLAG", "FLAGS", "MASK", "BPM", "BADPIX", "CON", "CONTEXT",
            "WHT",
            "WEIGHT", "WEIGHTS", "EXP", "EXPTIME", "EXPOSURE", "RMS", "IVAR", "INVVAR", "VAR", "VARIANCE", "UNC",
            "UNCERT", "UNCERTAINTY", "AREA", "SAMP", "TIME", "NSAMP", "BKG", "BACKGROUND", "WAVELENGTH", "OOD", "OOW",
            "WCSDVARR", "D2IMARR",
        ]
        return names.contains(name) || name.hasPrefix("VAR_") || name.hasPrefix("ERR_") || name.hasPrefix("DQ_")
    }

    /// The header's cards but END, 80 characters each, as of an image that is not compressed; behind them what the primary
    /// header says for all images of the file: coordinates where the image has none of its own, and when it was taken.
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

    /// The cards of the header that has the image's coordinates, byte by byte; empty without coordinates.
    var coordinates: [UInt8] {
        guard wcs != nil else { return [] }
        let bytes = { (text: UnsafeMutablePointer<CChar>, count: Int32) in
            [UInt8](UnsafeRawBufferPointer(start: text, count: Int(count) * 80))
        }
        let found =
            inheritsCoordinates ? file.withPrimaryHeader(hdu: info.hdu, bytes) : file.withHeaderText(bytes)
        return found ?? []
    }

    /// The tables of distortions that the coordinates need.
    var lookupTables: [LookupTable] { wcs?.tables ?? [] }

    private static func cards(_ text: UnsafeMutablePointer<CChar>, _ count: Int32) -> [String] {
        let bytes = UnsafeRawBufferPointer(start: text, count: Int(count) * 80)
        return (0..<min(Int(count), cardLimit)).compactMap { index in
            let card = bytes[index * 80..<(index + 1) * 80]
            // What is no text of FITS's is of no use to whoever reads it.
            let text = String(decoding: card.map { (0x20...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
            return text.hasPrefix("END     ") ? nil : text
        }
    }

    /// Keywords about the camera, the light and the moment, which hold for all images of a file.
    private static func isOfCamera(_ keyword: Substring) -> Bool {
        ImageKeywords.inherited.contains(keyword.prefix { $0 != " " })
    }

    /// Keywords of FITS's papers on coordinates, and those of SIP.
    private static func isOfCoordinates(_ keyword: Substring) -> Bool {
        let names = ["WCSAXES ", "RADESYS ", "RADECSYS", "EQUINOX ", "EPOCH   ", "LONPOLE ", "LATPOLE "]
        let beginnings = [
            "CTYPE", "CRVAL", "CRPIX", "CUNIT", "CDELT", "CROTA", "CD1_", "CD2_", "PC1_", "PC2_", "PV1_", "PV2_", "A_",
            "B_", "AP_", "BP_",
        ]
        return names.contains { $0 == keyword } || beginnings.contains { keyword.hasPrefix($0) }
    }

    /// More cards than any real header has; they cross the wire.
    private static let cardLimit = 10_000

    /// The pixels of `rect`, row by row, with BSCALE and BZERO applied. Whatever is no number that can be
    /// computed with (BLANK, NaN, infinities, beyond +-1e30) comes as NaN.
    ///
    /// - Throws: `.badInput` where the rectangle leaves the image or the file's data are damaged.
    package func read(_ rect: PixelRect) throws(SkyError) -> [Float] {
        guard info.contains(rect) else {
            throw SkyError(
                .badInput,
                "\(file.name): the rectangle \(rect) is not inside its \(info.width) x \(info.height) pixels;"
                    + " did the file change?")
        }
        var pixels = [Float](repeating: .nan, count: rect.width * rect.height)
        var status = file.read(rect, axes: axes, into: &pixels)
        if status == FITSFile.numericalOverflow {
            // 64-bit values that do not fit a Float stop cfitsio in the middle: read them as they are.
            var wide = [Double](repeating: .nan, count: pixels.count)
            status = file.read(rect, axes: axes, into: &wide)
            for index in wide.indices { pixels[index] = Float(wide[index]) }
        }
        guard status == 0 else { throw file.damaged(status, info: info) }
        pixels.withUnsafeMutableBufferPointer { buffer in
            // A choice and no branch: several pixels at a time.
            for index in buffer.indices { buffer[index] = abs(buffer[index]) < 1e30 ? buffer[index] : .nan }
        }
        return pixels
    }

    /// Reads the end of the last row: a file cut short by a failed copy is found here, not in the last sector.
    private func checkEnd() throws(SkyError) {
        let count = min(info.width, 4096)
        let tail = PixelRect(x: info.width - count, y: info.height - 1, width: count, height: 1)
        _ = try read(tail)
    }
}

extension ImageInfo {
    /// Most pixels of an image: SEP counts them in 32 bits.
    static let pixelLimit = Int(Int32.max)

    /// Whether an image may have this size; safe for any numbers.
    static func canBeScanned(width: Int, height: Int) -> Bool {
        let (count, overflow) = width.multipliedReportingOverflow(by: height)
        return width > 0 && height > 0 && !overflow && count < pixelLimit
    }

    /// Whether `rect` is a non-empty part of the image; safe for any numbers.
    package func contains(_ rect: PixelRect) -> Bool {
        rect.x >= 0 && rect.y >= 0 && rect.width > 0 && rect.height > 0 && rect.x < width && rect.y < height
            && rect.width <= width - rect.x && rect.height <= height - rect.y
    }
}
