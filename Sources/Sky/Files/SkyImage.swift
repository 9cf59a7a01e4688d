/// An image to scan: a FITS file, or pixels in memory.
public struct SkyImage: Sendable {
    package enum Storage: Sendable {
        case file(String, hdu: Int?, layer: ImageLayer)
        case pixels(width: Int, height: Int, [Float], header: [String])
    }

    package let storage: Storage

    /// An image of a FITS file: plain, gzipped or tile-compressed.
    ///
    /// - Parameters:
    ///   - path: Of the file. cfitsio's extended syntax (`file.fits[1][cols ...]`) is not known here.
    ///   - hdu: Which HDU, 0 for the primary; `nil` for the first with an image of the sky.
    ///   - layer: What of it: a plane of a cube, a colour of a colour camera's frame.
    public static func file(_ path: String, hdu: Int? = nil, layer: ImageLayer = ImageLayer()) -> SkyImage {
        SkyImage(storage: .file(path, hdu: hdu, layer: layer))
    }

    /// Pixels in memory.
    ///
    /// - Parameters:
    ///   - width: Columns.
    ///   - height: Rows.
    ///   - pixels: Row by row, `width` times `height`, the first the one that FITS calls (1, 1). What is NaN is left out.
    ///   - header: FITS cards with the coordinates, if sources are to have right ascension and declination.
    public static func pixels(width: Int, height: Int, _ pixels: [Float], header: [String] = []) -> SkyImage {
        SkyImage(storage: .pixels(width: width, height: height, pixels, header: header))
    }
}
