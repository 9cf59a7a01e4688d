import Base
import CCFITSIO
import Glibc

/// A cfitsio file handle that closes itself. It turns the errors of cfitsio's calls into words.
package final class FITSFile {
    struct Shape {
        var width: Int
        var height: Int
        /// Sizes of the axes beyond the second.
        var higherAxes: [Int]
        var bitpix: Int
        var hdu: Int

        /// The number of planes: 1 for an image; `nil` if there are more planes than a layer can name.
        var planes: Int? {
            var count = 1
            for size in higherAxes {
                let (product, overflow) = count.multipliedReportingOverflow(by: size)
                guard !overflow, product <= ImageLayer.planes.upperBound else { return nil }
                count = product
            }
            return count
        }

        /// The place of a plane along the axes beyond the second, each from 1; the third axis counts fastest.
        func place(ofPlane plane: Int) -> [Int] {
            var rest = plane - 1
            return higherAxes.map { size in
                defer { rest /= size }
                return rest % size + 1
            }
        }
    }

    /// The path in a form that fits into a one-line message.
    package let name: String
    private let path: String
    /// Where the file is.
    private let location: String
    private let pointer: UnsafeMutablePointer<fitsfile>

    /// `NUM_OVERFLOW`: a value does not fit into the type as which it is read.
    static let numericalOverflow: Int32 = 412
    /// `END_OF_FILE`: a read or a move beyond the last byte.
    private static let endOfFile: Int32 = 107
    /// No image whose further axes have one plane each has more axes than this.
    private static let axesLimit: Int32 = 9
    /// No real file has more HDUs than this. The walk through a hostile file must end.
    private static let hduLimit = 10_000

    /// Opens the file by `ffdkopn`, which takes the path as it is. cfitsio's other ways to open a file obey "extended file
    /// names" that filter, copy and fetch from the network.
    ///
    /// - Parameter location: Where the file is, if it is known by another path.
    init(path: String, at location: String? = nil) throws(SkyError) {
        (name, self.path, self.location) = (FITSSniff.quoted(path), path, location ?? path)
        // A leading "./" keeps cfitsio from reading anything into a first character such as "~" or a blank.
        let literal = self.location.hasPrefix("/") ? self.location : "./" + self.location
        var opened: UnsafeMutablePointer<fitsfile>?
        var status: Int32 = 0
        ffdkopn(&opened, literal, READONLY, &status)
        guard status == 0, let opened else {
            ffcmsg()
            if let opened {
                var ignored: Int32 = 0
                ffclos(opened, &ignored)
            }
            throw Self.cannotOpen(name: name, status)
        }
        pointer = opened
    }

    deinit {
        var status: Int32 = 0
        ffclos(pointer, &status)
        ffcmsg()
    }

    /// Moves to HDU `hdu` (0 for the primary), which must hold an image, or a cube of images.
    func moveToImage(hdu: Int) throws(SkyError) -> Shape {
        guard hdu >= 0, hdu < Self.hduLimit, let shape = try move(hdu: hdu) else {
            var count: Int32 = 0
            var status: Int32 = 0
            ffthdu(pointer, &count, &status)
            ffcmsg()
            throw SkyError(.badInput, "\(name): there is no HDU \(hdu); the file has \(count), counted from 0")
        }
        switch shape {
        case .image(let shape): return shape
        case .other(let what):
            throw SkyError(.badInput, "\(name): HDU \(hdu) is \(what), not a two-dimensional image")
        }
    }

    /// Moves to the first HDU that holds an image of the sky. If no HDU has an image of one plane, it moves to a cube.
    ///
    /// - Parameter prefersCubes: Whether a cube is preferred to an image of one plane.
    func moveToFirstImage(prefersCubes: Bool) throws(SkyError) -> Shape {
        var seen: [String] = []
        var found: [FileImage] = []
        let fileRole = fileRole
        for hdu in 0..<Self.hduLimit {
            let content: Content?
            do throws(SkyError) {
                content = try move(hdu: hdu)
            } catch {
                // The images that were found before the damaged HDU can still be used.
                guard !found.isEmpty else { throw error }
                break
            }
            guard let content, found.count < Self.listLimit else { break }
            switch content {
            case .image(let shape):
                found.append(described(shape))
                let images = FileImages(found, fileRole: fileRole)
                if images.roles.last == .sky, images.all.last?.isFlat != prefersCubes { return shape }
            case .other(let what): if seen.count < 4 { seen.append("HDU \(hdu) is \(what)") }
            }
            if hdu == Self.hduLimit - 1, found.isEmpty {
                throw SkyError(.badInput, "\(name): no image in its first \(Self.hduLimit) HDUs")
            }
        }
        let images = FileImages(found, fileRole: fileRole)
        if let first = images.scanned(prefersCubes: prefersCubes).first { return try moveToImage(hdu: first.hdu) }
        guard let first = found.first, let role = images.roles.first else {
            throw SkyError(.badInput, "\(name): no image in it (\(seen.joined(separator: ", ")))")
        }
        throw SkyError(
            .badInput,
            "\(name): \(ImageRole.noSkyWords): HDU \(first.hdu) is \(role.words); --hdu \(first.hdu) scans it"
                + " all the same")
    }

    /// Lists the images of the file, and then moves back to HDU `place`.
    ///
    /// - Returns: The images, and the first HDU that is damaged; what is behind it cannot be reached.
    package func images(leavingAt place: Int) -> (images: FileImages, damaged: Int?) {
        var found: [FileImage] = []
        var damaged: Int?
        let fileRole = fileRole
        for hdu in 0..<min(place + Self.listLimit, Self.hduLimit) {
            do throws(SkyError) {
                guard let content = try move(hdu: hdu) else { break }
                if case .image(let shape) = content { found.append(described(shape)) }
            } catch {
                damaged = hdu
                break
            }
        }
        _ = try? move(hdu: place)
        return (FileImages(found, fileRole: fileRole), damaged)
    }

    /// The number of HDUs that are searched for further images. No camera has as many detectors.
    private static let listLimit = 1000

    /// The role that the file's name gives to all its images, or else the role that the primary header gives if that has no
    /// image of its own. `nil` if neither names one.
    private var fileRole: ImageRole? {
        if let role = ImageRole(fileName: path) { return role }
        guard case .other("empty")? = try? move(hdu: 0) else { return nil }
        return declaredRole
    }

    /// The role that the current HDU's header gives to its image.
    private var declaredRole: ImageRole? {
        for keyword in ["EXTTYPE", "PRODTYPE"] {
            if let role = text(keyword).flatMap(ImageRole.init(name:)) { return role }
        }
        // Cameras use words of their own in these keywords: some call a picture an exposure, a background or an error.
        for keyword in ["IMAGETYP", "OBSTYPE"] {
            let role = text(keyword).flatMap(ImageRole.init(name:))
            if let role, [.mask, .noise(.weight), .noise(.variance)].contains(role) { return role }
        }
        return nil
    }

    private func described(_ shape: Shape) -> FileImage {
        let given = text("EXTNAME") ?? ""
        // cfitsio gives this name to every image that it compresses.
        let name = given == "COMPRESSED_IMAGE" ? "" : given
        var image = FileImage(hdu: shape.hdu, name: name, sizes: [shape.width, shape.height] + shape.higherAxes)
        image.version = text("EXTVER").flatMap { Int($0) }
        image.isWhole = shape.bitpix > 0
        image.hasAxes = text("CTYPE1") != nil
        image.declared = ImageRole(name: name) ?? declaredRole ?? (bitNumbers.isEmpty ? nil : .mask)
        return image
    }

    /// The numbers of a mask's bits by the names of LSST's mask planes, from the keywords that begin with `MP_`.
    var bitNumbers: [String: Int] {
        var numbers: [String: Int] = [:]
        for name in MaskRule.planesOfLSST + ["DETECTED", "EDGE", "INTRP"] {
            numbers[name] = text("MP_" + name).flatMap { Int($0) }
        }
        return numbers
    }

    /// The value of a keyword of the current HDU, without the quotes of a text; `nil` if the keyword is absent.
    package func text(_ keyword: String) -> String? {
        // cfitsio writes at most 70 characters and a zero (FLEN_VALUE).
        var text = [CChar](repeating: 0, count: 128)
        var status: Int32 = 0
        ffgkey(pointer, keyword, &text, nil, &status)
        ffcmsg()
        guard status == 0 else { return nil }
        let value = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let plain = value.hasPrefix("'") ? value.dropFirst().prefix { $0 != "'" } : value[...]
        let ended = plain.reversed().drop { $0 == " " }.reversed()
        let word = String(ended.drop { $0 == " " })
        return word.isEmpty ? nil : word
    }

    /// Calls `body` with the header of the primary HDU if that HDU has no image of its own, because extensions inherit from it
    /// then (FITS standard 4.0, "Inheritance"). Moves to HDU `hdu` at the end.
    func withPrimaryHeader<Result>(
        hdu: Int, _ body: (UnsafeMutablePointer<CChar>, Int32) -> Result?
    ) -> Result? {
        guard hdu > 0, case .other("empty")? = try? move(hdu: 0) else {
            _ = try? move(hdu: hdu)
            return nil
        }
        let result = withHeaderText(body)
        _ = try? move(hdu: hdu)
        return result
    }

    /// Moves to another HDU and calls `body`; the file stays at that HDU.
    func withKeywords<Result>(ofHDU hdu: Int, _ body: (FITSFile) -> Result) -> Result {
        _ = try? move(hdu: hdu)
        return body(self)
    }

    private enum Content {
        case image(Shape)
        case other(String)
    }

    /// The content of an HDU, or `nil` behind the last one.
    private func move(hdu: Int) throws(SkyError) -> Content? {
        var type: Int32 = 0
        var status: Int32 = 0
        ffmahd(pointer, Int32(hdu) + 1, &type, &status)
        if status == Self.endOfFile, hdu > 0 {
            ffcmsg()
            return nil
        }
        guard status == 0 else { throw Self.damagedHeader(name: name, hdu: hdu, status) }
        guard type == IMAGE_HDU else { return .other("a table") }
        var axes: Int32 = 0
        var bitpix: Int32 = 0
        ffgidm(pointer, &axes, &status)
        ffgiet(pointer, &bitpix, &status)
        guard status == 0 else { throw Self.damagedHeader(name: name, hdu: hdu, status) }
        guard axes > 0 else { return .other("empty") }
        guard axes <= Self.axesLimit else { return .other("an array of \(axes) axes") }
        var sizes = [Int64](repeating: 0, count: Int(axes))
        ffgiszll(pointer, axes, &sizes, &status)
        guard status == 0 else { throw Self.damagedHeader(name: name, hdu: hdu, status) }
        let shape = Shape(
            width: Int(sizes[0]), height: axes > 1 ? Int(sizes[1]) : 0, higherAxes: sizes.dropFirst(2).map { Int($0) },
            bitpix: Int(bitpix), hdu: hdu)
        guard axes >= 2, sizes.allSatisfy({ $0 > 0 }), shape.planes != nil else {
            return .other("an array of " + sizes.map { "\($0)" }.joined(separator: " x "))
        }
        return .image(shape)
    }

    /// Calls `body` with the HDU's header cards as one text. The header of a tile-compressed image comes as if it were not
    /// compressed.
    func withHeaderText<Result>(_ body: (UnsafeMutablePointer<CChar>, Int32) -> Result?) -> Result? {
        var text: UnsafeMutablePointer<CChar>?
        var count: Int32 = 0
        var status: Int32 = 0
        ffcnvthdr2str(pointer, 1, nil, 0, &text, &count, &status)
        guard let text else { return nil }
        defer {
            var ignored: Int32 = 0
            fffree(text, &ignored)
            ffcmsg()
        }
        return status == 0 ? body(text, count) : nil
    }

    /// A table of distortions from its own HDU; `nil` if there is none that can be used. Moves back to the HDU where the file
    /// was.
    func lookupTable(_ name: LookupTable.Name) -> LookupTable? {
        var place: Int32 = 0
        ffghdn(pointer, &place)
        defer {
            _ = try? move(hdu: Int(place) - 1)
            ffcmsg()
        }
        var found: Int32 = 0
        var status: Int32 = 0
        var extensionName = name.extensionName.utf8.map { CChar(bitPattern: $0) } + [0]
        ffmnhd(pointer, IMAGE_HDU, &extensionName, Int32(clamping: name.version), &status)
        ffghdn(pointer, &found)
        guard status == 0, case .image(let shape)? = try? move(hdu: Int(found) - 1),
            shape.width <= LookupTable.elementLimit, shape.height <= LookupTable.elementLimit / shape.width
        else { return nil }
        var values = [Float](repeating: .nan, count: shape.width * shape.height)
        let whole = PixelRect(x: 0, y: 0, width: shape.width, height: shape.height)
        guard shape.planes == 1, read(Part(rect: whole, plane: shape.place(ofPlane: 1)), into: &values) == 0 else {
            return nil
        }
        return LookupTable(
            name: name, x: lookupAxis(1, count: shape.width), y: lookupAxis(2, count: shape.height), values: values)
    }

    private func lookupAxis(_ number: Int, count: Int) -> LookupTable.Axis {
        let value = { [pointer] (keyword: String, usual: Double) in
            var value = usual
            var status: Int32 = 0
            ffgkyd(pointer, "\(keyword)\(number)", &value, nil, &status)
            ffcmsg()
            return status == 0 ? value : usual
        }
        return LookupTable.Axis(
            count: count, element: value("CRPIX", 0), pixel: value("CRVAL", 0), step: value("CDELT", 1))
    }

    /// A part of an image as it is stored.
    package struct Part {
        package var rect: PixelRect
        /// The place of its plane along the axes beyond the second, from 1.
        package var plane: [Int]
        /// The distance from one pixel that is read to the next, along both axes.
        package var step = 1
    }

    /// The pixels of a plane of the current HDU, if they can be read without cfitsio; `nil` if they cannot.
    func plainPixels(_ shape: Shape, plane: [Int]) -> PlainPixels? {
        defer { ffcmsg() }
        // That of the file: of unsigned integers, the shape has the number of their own kind.
        var (bitpix, status): (Int32, Int32) = (0, 0)
        ffgidt(pointer, &bitpix, &status)
        var type = [CChar](repeating: 0, count: 32)
        ffurlt(pointer, &type, &status)
        // A gzipped file has another type: cfitsio has unpacked it somewhere.
        guard status == 0,
            String(decoding: type.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self) == "file://",
            fits_is_compressed_image(pointer, &status) == 0, status == 0,
            let scale = number("BSCALE", or: 1), scale == 1, let zero = number("BZERO", or: 0),
            let kind = kind(bitpix, zero: zero)
        else { return nil }
        var (header, start, end): (LONGLONG, LONGLONG, LONGLONG) = (0, 0, 0)
        ffghadll(pointer, &header, &start, &end, &status)
        guard status == 0, start > 0, let file = try? RegularFile(location) else { return nil }
        var (place, size) = (0, shape.width * shape.height)
        for (number, count) in zip(plane, shape.higherAxes) {
            place += (number - 1) * size
            let (product, overflow) = size.multipliedReportingOverflow(by: count)
            guard !overflow, product < 1 << 48 else { return nil }
            size = product
        }
        return PlainPixels(file, kind, start: Int(start) + place * Int(abs(bitpix)) / 8, width: shape.width)
    }

    private func kind(_ bitpix: Int32, zero: Double) -> PlainPixels.Kind? {
        switch bitpix {
        case -32: return zero == 0 ? .float : nil
        case 16:
            // A value that marks missing pixels is left to cfitsio.
            var (blank, status): (LONGLONG, Int32) = (0, 0)
            ffgkyjj(pointer, "BLANK", &blank, nil, &status)
            return status == Self.noSuchKeyword ? .integer(zero: zero) : nil
        default: return nil
        }
    }

    /// The number behind a keyword; `usual` if there is no such keyword, `nil` if there is something else behind it.
    private func number(_ keyword: String, or usual: Double) -> Double? {
        var (value, status): (Double, Int32) = (0, 0)
        ffgkyd(pointer, keyword, &value, nil, &status)
        return status == Self.noSuchKeyword ? usual : status == 0 ? value : nil
    }

    /// `KEY_NO_EXIST`: the header has no such keyword.
    private static let noSuchKeyword: Int32 = 202

    /// Reads a part as floats, nulls as NaN; returns cfitsio's status.
    package func read(_ part: Part, into pixels: inout [Float]) -> Int32 {
        var null = Float.nan
        return read(part, type: TFLOAT, null: &null, into: &pixels)
    }

    /// Reads a part as doubles, nulls as NaN; returns cfitsio's status.
    package func read(_ part: Part, into pixels: inout [Double]) -> Int32 {
        var null = Double.nan
        return read(part, type: TDOUBLE, null: &null, into: &pixels)
    }

    private func read(
        _ part: Part, type: Int32, null: UnsafeMutableRawPointer, into pixels: UnsafeMutableRawPointer
    ) -> Int32 {
        let rect = part.rect
        var first = [rect.x + 1, rect.y + 1] + part.plane
        var last = [rect.x + rect.width, rect.y + rect.height] + part.plane
        var step = [part.step, part.step] + part.plane.map { _ in 1 }
        var anyNull: Int32 = 0
        var status: Int32 = 0
        ffgsv(pointer, type, &first, &last, &step, null, pixels, &anyNull, &status)
        ffcmsg()
        return status
    }
}

// MARK: - Errors in words

extension FITSFile {
    /// The error for data that cannot be read although the header promised them.
    package func damaged(_ status: Int32, sizes: [Int]) -> SkyError {
        if status == Self.endOfFile {
            return SkyError(
                .badInput,
                "\(name): truncated: the header promises \(words(sizes)) pixels, the file ends before"
                    + " the last; copy it again, or wait until it is written")
        }
        // Status 1, 413 or 414 means that cfitsio's decoders of compressed tiles gave up.
        let reason = [1, 413, 414].contains(status) ? "its compressed tiles cannot be unpacked" : Self.words(status)
        return SkyError(.badInput, "\(name): damaged pixel data: \(reason); copy it again")
    }

    private func words(_ sizes: [Int]) -> String { sizes.map { "\($0)" }.joined(separator: " x ") }

    private static func cannotOpen(name: String, _ status: Int32) -> SkyError {
        switch status {
        case 104: SkyError(.unavailable, "\(name): cannot be opened on this node")
        case 413, 414: SkyError(.badInput, "\(name): truncated or damaged gzip file; copy it again")
        default: damagedHeader(name: name, hdu: 0, status)
        }
    }

    private static func damagedHeader(name: String, hdu: Int, _ status: Int32) -> SkyError {
        ffcmsg()
        switch status {
        case endOfFile, 210, 252:
            return SkyError(.badInput, "\(name): truncated: the header of HDU \(hdu) has no END; copy the file again")
        default:
            return SkyError(.badInput, "\(name): damaged header of HDU \(hdu): \(words(status))")
        }
    }

    private static func words(_ status: Int32) -> String {
        // cfitsio writes at most 30 characters and a zero (FLEN_STATUS).
        var text = [CChar](repeating: 0, count: 64)
        ffgerr(status, &text)
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return "\(String(decoding: bytes, as: UTF8.self)) (cfitsio \(status))"
    }
}
