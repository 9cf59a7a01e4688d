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
    ///   - path: The path of the file. cfitsio's extended syntax (`file.fits[1][cols ...]`) has no meaning here.
    ///   - hdu: The HDU, 0 for the primary; `nil` for the first with an image of the sky.
    ///   - layer: The part of the HDU: a plane of a cube, or a colour of a colour camera's frame.
    public static func file(_ path: String, hdu: Int? = nil, layer: ImageLayer = ImageLayer()) -> SkyImage {
        SkyImage(storage: .file(path, hdu: hdu, layer: layer))
    }

    /// Pixels in memory.
    ///
    /// - Parameters:
    ///   - width: Columns.
    ///   - height: Rows.
    ///   - pixels: `width` times `height` values, row by row; the first is the pixel that FITS calls (1, 1). Pixels that are
    ///     NaN are left out.
    ///   - header: FITS cards with the coordinates, for sources that should have right ascension and declination.
    public static func pixels(width: Int, height: Int, _ pixels: [Float], header: [String] = []) -> SkyImage {
        SkyImage(storage: .pixels(width: width, height: height, pixels, header: header))
    }
}
