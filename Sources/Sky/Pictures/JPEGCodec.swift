import Base
import CTurboJPEG

/// Encodes and decodes pictures as JPEG files (ITU-T T.81) with libjpeg-turbo. The noise of the sky is most of a picture of it, and
/// no lossless file is much smaller than its pixels; a JPEG file is a third of them, and made in a third of the time.
enum JPEGCodec {
    /// The quality of what a node draws and another program draws on, from 1 to 100.
    static let draftQuality: Int32 = 75
    /// The quality of the file that users look at.
    static let quality: Int32 = 82

    /// The JPEG file of grey values row by row, as bytes.
    ///
    /// - Parameters:
    ///   - greys: `width * height` values, the picture's upper row first.
    ///   - quality: from 1 to 100.
    /// - Throws: `SkyError` if there is no memory for it.
    static func encode(_ greys: [UInt8], width: Int, height: Int, quality: Int32) throws(SkyError) -> [UInt8] {
        precondition(greys.count == width * height, "a grey for each pixel")
        return try encode(greys[...], width, height, pitch: width, TJPF_GRAY, TJSAMP_GRAY, quality)
    }

    /// The JPEG file of a raster, as bytes. The thin lines of marks need their colours as sharp as their brightness: no chroma
    /// subsampling.
    ///
    /// - Throws: `SkyError` if there is no memory for it.
    static func encode(_ raster: Raster, quality: Int32 = quality) throws(SkyError) -> [UInt8] {
        // A row begins with the number of a PNG filter.
        let file = try encode(
            raster.rows.dropFirst(), raster.width, raster.height, pitch: raster.width * 3 + 1, TJPF_RGB, TJSAMP_444,
            quality)
        return file.prefix(2) + mark + file.dropFirst(2)
    }

    /// The comment behind a file's first marker that names the program (ITU-T T.81, B.2.4.5).
    static let mark: [UInt8] = [0xFF, 0xFE, 0, UInt8(2 + maker.count)] + maker
    private static let maker = Array("made by skynode".utf8)

    private static func encode(
        _ pixels: ArraySlice<UInt8>, _ width: Int, _ height: Int, pitch: Int, _ format: TJPF, _ sampling: TJSAMP,
        _ quality: Int32
    ) throws(SkyError) -> [UInt8] {
        guard let codec = tjInitCompress() else { throw failure("encoded", nil) }
        defer { tjDestroy(codec) }
        var file: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        defer { tjFree(file) }
        let result = pixels.withUnsafeBufferPointer { pixels in
            tjCompress2(
                codec, pixels.baseAddress, Int32(width), Int32(pitch), Int32(height), Int32(format.rawValue), &file,
                &count, Int32(sampling.rawValue), quality, 0)
        }
        guard result == 0, let file else { throw failure("encoded", codec) }
        return Array(UnsafeBufferPointer(start: file, count: Int(count)))
    }

    /// Whether these bytes begin and end as a JPEG file does. This is all that is asked where they arrive, in a daemon: bytes of
    /// somebody else are decoded by the command that wants to see them.
    static func isFile(_ bytes: [UInt8]) -> Bool {
        // Compared as a slice: `suffix` of any sequence would go through all of them.
        bytes.starts(with: [0xFF, 0xD8, 0xFF]) && bytes[max(0, bytes.count - 2)...] == [0xFF, 0xD9]
    }

    private static func isGrey(_ file: [UInt8], _ codec: tjhandle, _ width: Int, _ height: Int) -> Bool {
        var found: (width: Int32, height: Int32, sampling: Int32, space: Int32) = (0, 0, 0, 0)
        let result = tjDecompressHeader3(
            codec, file, UInt(file.count), &found.width, &found.height, &found.sampling, &found.space)
        return result == 0 && Int(found.width) == width && Int(found.height) == height
            && found.space == Int32(TJCS_GRAY.rawValue)
    }

    /// The grey values of a JPEG file row by row.
    ///
    /// - Throws: `SkyError` if it is not whole, or not a grey picture of this size.
    static func greys(of file: [UInt8], width: Int, height: Int) throws(SkyError) -> [UInt8] {
        guard let codec = tjInitDecompress() else { throw failure("decoded", nil) }
        defer { tjDestroy(codec) }
        guard isGrey(file, codec, width, height) else {
            throw SkyError(.failed, "the picture is not a grey JPEG file of \(width) x \(height) pixels")
        }
        var result: Int32 = -1
        let greys = [UInt8](unsafeUninitializedCapacity: width * height) { greys, count in
            // Without the limit a small file of thousands of passes takes minutes.
            result = tjDecompress2(
                codec, file, UInt(file.count), greys.baseAddress, Int32(width), 0, Int32(height),
                Int32(TJPF_GRAY.rawValue), TJFLAG_LIMITSCANS)
            count = result == 0 ? width * height : 0
        }
        guard result == 0 else { throw failure("decoded", codec) }
        return greys
    }

    private static func failure(_ what: String, _ codec: tjhandle?) -> SkyError {
        let reason = tjGetErrorStr2(codec).map { PrintableText.of(String(cString: $0)) } ?? "no reason given"
        return SkyError(.failed, "the picture cannot be \(what): \(reason)")
    }
}
