import CCFITSIO
import Glibc

/// A cfitsio file handle that closes itself, and cfitsio's calls with their errors in words.
final class FITSFile {
    struct Shape {
        var width: Int
        var height: Int
        /// `NAXIS`: above 2 where trailing axes have one plane.
        var axes: Int
        var bitpix: Int
        var hdu: Int
    }

    /// The path, fit for a one-line message.
    let name: String
    private let pointer: UnsafeMutablePointer<fitsfile>

    /// `NUM_OVERFLOW`: a value does not fit the type it is read as.
    static let numericalOverflow: Int32 = 412
    /// `END_OF_FILE`: a read or a move beyond the last byte.
    private static let endOfFile: Int32 = 107
    /// More axes than any image with trailing axes of one plane has.
    private static let axesLimit: Int32 = 9
    /// More HDUs than any real file; walking a hostile one must end.
    private static let hduLimit = 10_000

    /// Opens by `ffdkopn`, which takes the path as it is: cfitsio's other ways to open obey "extended file names"
    /// that filter, copy and fetch from the network.
    init(path: String) throws(SkyError) {
        name = FITSSniff.quoted(path)
        // A leading "./" keeps cfitsio from reading anything into a first character such as "~" or a blank.
        let literal = path.hasPrefix("/") ? path : "./" + path
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

    /// Moves to HDU `hdu` (0 for the primary), which must hold a 2-D image.
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

    /// Moves to the first HDU that holds a 2-D image.
    func moveToFirstImage() throws(SkyError) -> Shape {
        var seen: [String] = []
        for hdu in 0..<Self.hduLimit {
            switch try move(hdu: hdu) {
            case .image(let shape)?: return shape
            case .other(let what)?: if seen.count < 4 { seen.append("HDU \(hdu) is \(what)") }
            case nil:
                throw SkyError(.badInput, "\(name): no image in it (\(seen.joined(separator: ", ")))")
            }
        }
        throw SkyError(.badInput, "\(name): no image in its first \(Self.hduLimit) HDUs")
    }

    /// All HDUs that hold 2-D images, with their names, from the current one on; the file is left where it was.
    ///
    /// - Returns: the images, and the first HDU that is damaged: what is behind it cannot be reached.
    func laterImages(from first: Int) -> (images: [(hdu: Int, name: String)], damaged: Int?) {
        var images: [(hdu: Int, name: String)] = []
        var damaged: Int?
        for hdu in first..<min(first + Self.listLimit, Self.hduLimit) {
            do throws(SkyError) {
                guard let content = try move(hdu: hdu) else { break }
                if case .image = content { images.append((hdu, extensionName)) }
            } catch {
                damaged = hdu
                break
            }
        }
        _ = try? move(hdu: first)
        return (images, damaged)
    }

    /// HDUs that are looked at for further images: more than any camera's detectors.
    private static let listLimit = 1000

    private var extensionName: String {
        // cfitsio writes at most 68 characters and a zero (FLEN_VALUE).
        var text = [CChar](repeating: 0, count: 128)
        var status: Int32 = 0
        ffgkys(pointer, "EXTNAME", &text, nil, &status)
        ffcmsg()
        guard status == 0 else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Calls `body` with the primary HDU's header where that has no image of its own: extensions inherit from it (FITS
    /// standard 4.0, "Inheritance"). The file is left at `hdu`.
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
        guard axes >= 2, sizes.allSatisfy({ $0 > 0 }), sizes.dropFirst(2).allSatisfy({ $0 == 1 }) else {
            return .other("an array of " + sizes.map { "\($0)" }.joined(separator: " x "))
        }
        return .image(
            Shape(width: Int(sizes[0]), height: Int(sizes[1]), axes: Int(axes), bitpix: Int(bitpix), hdu: hdu))
    }

    /// Calls `body` with the HDU's header cards as one text, a tile-compressed image's as if it were not.
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

    /// A table of distortions, from its own HDU; `nil` where there is none that can be used. The file is left where it was.
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
        guard read(whole, axes: shape.axes, into: &values) == 0 else { return nil }
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

    /// Reads `rect` as floats, nulls as NaN; returns cfitsio's status.
    func read(_ rect: PixelRect, axes: Int, into pixels: inout [Float]) -> Int32 {
        var null = Float.nan
        return read(rect, axes: axes, type: TFLOAT, null: &null, into: &pixels)
    }

    /// Reads `rect` as doubles, nulls as NaN; returns cfitsio's status.
    func read(_ rect: PixelRect, axes: Int, into pixels: inout [Double]) -> Int32 {
        var null = Double.nan
        return read(rect, axes: axes, type: TDOUBLE, null: &null, into: &pixels)
    }

    private func read(
        _ rect: PixelRect, axes: Int, type: Int32, null: UnsafeMutableRawPointer, into pixels: UnsafeMutableRawPointer
    ) -> Int32 {
        let ones = [Int](repeating: 1, count: max(axes, 2) - 2)
        var first = [rect.x + 1, rect.y + 1] + ones
        var last = [rect.x + rect.width, rect.y + rect.height] + ones
        var step = [1, 1] + ones
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
    func damaged(_ status: Int32, info: ImageInfo) -> SkyError {
        if status == Self.endOfFile {
            return SkyError(
                .badInput,
                "\(name): truncated: the header promises \(info.width) x \(info.height) pixels, the file ends before"
                    + " the last; copy it again, or wait until it is written")
        }
        // 1 and 413, 414: cfitsio's decoders of compressed tiles give up.
        let reason = [1, 413, 414].contains(status) ? "its compressed tiles cannot be unpacked" : Self.words(status)
        return SkyError(.badInput, "\(name): damaged pixel data: \(reason); copy it again")
    }

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
