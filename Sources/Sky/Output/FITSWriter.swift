import Base
import CCFITSIO
import Glibc

/// Writes one FITS file by cfitsio, atomically.
///
/// cfitsio's calls do nothing once a status is set, so a body makes its calls one after the other and the first
/// failure is reported at the end (cfitsio User's Reference Guide, "Error Status Values and the Error Message Stack").
/// cfitsio adds no date of its own, so equal contents give equal bytes.
struct FITSWriter {
    private let file: UnsafeMutablePointer<fitsfile>
    private var status: Int32 = 0

    /// The longest name that cfitsio takes (`FLEN_FILENAME` less its final zero).
    static let nameLimit = 1024

    /// Runs `body` on a new, empty FITS file, which gets its place with the others.
    static func write(
        to path: String, as kind: OutputKind, among files: StagedFiles, _ body: (inout FITSWriter) -> Void
    ) throws(SkyError) {
        try files.write(to: path, as: kind) { temporary throws(SkyError) in
            guard temporary.utf8.count <= nameLimit else { throw .notWritten(path, errno: ENAMETOOLONG) }
            // cfitsio reports only its own status; right after a failure errno still holds the system's reason.
            errno = 0
            var opened: UnsafeMutablePointer<fitsfile>?
            var status: Int32 = 0
            // This stores the mark "take this name literally" in a static variable, so two threads must not make files at once.
            ffdkinit(&opened, temporary, &status)
            guard let opened else { throw error(path, status: status, reason: errno) }
            return opened
        } writing: { opened throws(SkyError) in
            var writer = FITSWriter(file: opened)
            body(&writer)
            var reason = errno
            var closing: Int32 = 0
            ffclos(opened, &closing)
            if writer.status == 0 { reason = errno }
            let failure = writer.status != 0 ? writer.status : closing
            guard failure == 0 else { throw error(path, status: failure, reason: reason) }
        }
    }

    /// Makes a primary HDU without pixels, in front of others.
    mutating func emptyImage() { ffcrim(file, Int32(PixelFormat.byte.rawValue), 0, nil, &status) }

    /// Adds an image whose pixels follow after its cards: the primary HDU, or an extension at the end of the file.
    ///
    /// - Parameter coding: How the pixels are stored. It brings the cards `BZERO`, `BSCALE` and `BLANK` if they are needed.
    mutating func image(width: Int, height: Int, coding: PixelCoding) {
        var axes = [width, height]
        ffcrim(file, Int32(coding.format.rawValue), 2, &axes, &status)
        if coding.step != 1 || coding.zero != 0 {
            card(FITSCard("BZERO", Self.short(coding.zero), "value of a stored 0"))
            card(FITSCard("BSCALE", Self.short(coding.step), "value of a stored 1 less that of 0"))
        }
        if let blank = coding.blank {
            card(FITSCard("BLANK", .integer(Int(blank)), "stored where a pixel has no value"))
        }
    }

    /// Writes the pixels of the image that `image(width:height:coding:)` began.
    ///
    /// - Parameter pixels: `width` times `height` values, the first row first.
    mutating func pixels(_ pixels: [Float], coding: PixelCoding) {
        guard coding.stored != nil else { return pixels.withUnsafeBytes { put($0, TFLOAT, first: 1, pixels.count) } }
        // The values are already scaled here. cfitsio takes the scale from the header as soon as the header is complete, so a
        // later call must set it to 1.
        ffrdef(file, &status)
        ffpscl(file, 1, 0, &status)
        pixels.withUnsafeBufferPointer { pixels in
            // The pixels are written in pieces, because a second copy of a large frame may not fit in memory.
            for start in stride(from: 0, to: pixels.count, by: Self.piece) {
                let part = pixels[start..<min(start + Self.piece, pixels.count)]
                switch coding.format {
                case .byte: put(coding.encoded(part) as [UInt8], TBYTE, first: start + 1)
                case .short: put(coding.encoded(part) as [Int16], TSHORT, first: start + 1)
                case .int: put(coding.encoded(part) as [Int32], TINT, first: start + 1)
                case .long: put(coding.encoded(part) as [Int64], TLONGLONG, first: start + 1)
                case .float, .double: break
                }
            }
        }
    }

    /// The number of pixels that are encoded at once.
    private static let piece = 1 << 18

    private mutating func put<Stored>(_ stored: [Stored], _ type: Int32, first: Int) {
        stored.withUnsafeBytes { put($0, type, first: first, stored.count) }
    }

    private mutating func put(_ bytes: UnsafeRawBufferPointer, _ type: Int32, first: Int, _ count: Int) {
        // cfitsio only reads from this pointer; its signature is older than `const`.
        let values = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
        ffppr(file, type, Int64(first), Int64(count), values, &status)
    }

    /// A number as people write it: 32768, not 32768.0.
    private static func short(_ value: Double) -> FITSCard.Value {
        Int(exactly: value).map { .integer($0) } ?? .real(value)
    }

    /// Adds a card as it stands in another header, 80 characters.
    mutating func record(_ card: String) { ffprec(file, Self.ascii(card), &status) }

    /// The characters of a text that one card holds.
    private static let textLimit = 68

    /// Adds a card to the current header.
    mutating func card(_ card: FITSCard) {
        let comment = Self.ascii(card.comment)
        switch card.value {
        case .text(let value):
            // A longer text goes on in CONTINUE cards (FITS standard 4.0, section 4.2.1.2), which a header announces.
            if value.unicodeScalars.count > Self.textLimit { ffplsw(file, &status) }
            ffpkls(file, card.keyword, Self.ascii(value), comment, &status)
        case .integer(let value): ffpkyj(file, card.keyword, Int64(value), comment, &status)
        case .unsigned(let value): ffpkyuj(file, card.keyword, value, comment, &status)
        // Every Double keeps 15 digits, so a decimal number is printed as the user typed it. A negative number of decimals
        // makes cfitsio choose the shorter one of %E and %f.
        case .real(let value): ffpkyd(file, card.keyword, value, -15, comment, &status)
        }
    }

    /// Adds an empty binary table. cfitsio writes the empty primary HDU in front that the standard requires.
    ///
    /// - Parameter forms: `TFORM` of each column, such as `1D`.
    mutating func table(rows: Int, names: [String], forms: [String], units: [String], name: String) {
        Self.withStrings(names) { names in
            Self.withStrings(forms) { forms in
                Self.withStrings(units) { units in
                    _ = ffcrtb(
                        file, BINARY_TBL, Int64(rows), Int32(clamping: names.count), names.baseAddress,
                        forms.baseAddress, units.baseAddress, name, &status)
                }
            }
        }
    }

    /// Fills rows of a table.
    ///
    /// - Parameters:
    ///   - bytes: The rows one after the other, as they are in the file.
    ///   - first: The first row, counted from 0.
    mutating func rows(_ bytes: [UInt8], from first: Int) {
        // cfitsio only reads from this pointer; its signature is older than `const`.
        bytes.withUnsafeBufferPointer { bytes in
            _ = ffptbb(
                file, Int64(first) + 1, 1, Int64(bytes.count), UnsafeMutablePointer(mutating: bytes.baseAddress),
                &status)
        }
    }

    /// Fills a column, counted from 1, with characters. Text that is too long for the column's form is cut off.
    mutating func column(_ number: Int, _ values: [String]) {
        guard !values.isEmpty else { return }
        let (file, count) = (file, Int64(values.count))
        var status = status
        Self.withStrings(values) { values in
            _ = ffpcls(file, Int32(clamping: number), 1, 1, count, values.baseAddress, &status)
        }
        self.status = status
    }

    private init(file: UnsafeMutablePointer<fitsfile>) {
        self.file = file
    }

    private static func error(_ path: String, status: Int32, reason: Int32) -> SkyError {
        ffcmsg()
        if reason != 0 && (status == FILE_NOT_CREATED || status == WRITE_ERROR || status == FILE_NOT_CLOSED) {
            return .notWritten(path, errno: reason)
        }
        var text = [CChar](repeating: 0, count: Int(FLEN_STATUS))
        ffgerr(status, &text)
        let end = text.firstIndex(of: 0) ?? text.endIndex
        let words = String(decoding: text[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return SkyError(.failed, "\(path): cannot be written: cfitsio says \(words) (\(status))")
    }

    /// The text with printable ASCII only, as a header requires (FITS standard 4.0, section 4.1.2.2).
    private static func ascii(_ text: String) -> String {
        String(text.unicodeScalars.map { (0x20...0x7E).contains($0.value) ? Character($0) : "?" })
    }

    /// Lends `strings` as the array of C strings that cfitsio's table calls need.
    private static func withStrings(
        _ strings: [String], _ body: (UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>) -> Void
    ) {
        var copies = strings.map { strdup(ascii($0)) }
        defer { for copy in copies { free(copy) } }
        copies.withUnsafeMutableBufferPointer { body($0) }
    }
}
