import Base

extension SkyEngine {
    /// The image in reduced size, its longest side at most `maximumSide` pixels.
    ///
    /// - Parameter encodes: whether its pixels become a JPEG file.
    /// - Throws: `SkyError` if the image cannot be read.
    package func preview(
        path: String, hdu: Int?, layer: ImageLayer? = nil, maximumSide: Int, encodes: Bool = false
    ) throws(SkyError) -> ImagePreview {
        stages.enter(.open)
        let image = try image(path, hdu, layer, nil)
        stages.enter(.draw)
        let preview = try ImagePreview(width: image.info.width, height: image.info.height, maximumSide: maximumSide) {
            rect throws(SkyError) in
            try stages.during(.read) { () throws(SkyError) in try image.read(rect).values }
        }
        return encodes ? try preview.encoded() : preview
    }
}
