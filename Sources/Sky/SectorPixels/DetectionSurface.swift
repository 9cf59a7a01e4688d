/// The pixels in which sources are found, if they are measured in others.
struct DetectionSurface {
    /// The image, as large as the one that is measured.
    let image: ScanImage
    let background: BackgroundMap
}

extension SectorPixels.View {
    /// A detection in another image, with the flux, the peak and the area above a threshold that it has in these pixels.
    ///
    /// It keeps its own threshold, which is the detection image's, as in SExtractor.
    func measured(_ object: Detection, _ footprint: ArraySlice<Int32>, above floor: Float) -> Detection {
        var object = object
        var (flux, peak, area) = (0.0, -Float.infinity, 0)
        for pixel in footprint {
            let value = values[Int(pixel)]
            flux += Double(value)
            peak = max(peak, value)
            if value > floor { area += 1 }
        }
        (object.flux, object.peak, object.area) = (Float(flux), peak, area)
        return object
    }
}

extension Detection {
    /// The same detection with another threshold.
    func above(_ threshold: Float) -> Detection {
        var object = self
        object.threshold = threshold
        return object
    }
}
