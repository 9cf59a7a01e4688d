import Base

extension SkyEngine {
    /// The image in reduced size, its longest side at most `maximumSide` pixels.
    ///
    /// - Parameter encodes: whether its pixels become a JPEG file.
    /// - Throws: `SkyError` if the image cannot be read.
    package func preview(
        path: String, hdu: Int?, layer: ImageLayer? = nil, maximumSide: Int, encodes: Bool = false
    ) throws(SkyError) -> ImagePreview {
        let info = try inspect(path: path, hdu: hdu, layer: layer)
        stages.enter(.draw)
        let preview = try ImagePreview(width: info.width, height: info.height, maximumSide: maximumSide) {
            rect throws(SkyError) in
            try pixels(path: path, hdu: info.hdu, layer: layer, rect: rect)
        }
        return encodes ? try preview.encoded() : preview
    }
}
