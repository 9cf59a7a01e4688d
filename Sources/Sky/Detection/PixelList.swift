/// The pixels above the threshold in an image: their places, and their values before and after the filter.
struct PixelList {
    /// Row by row in the image.
    var places: [Int32] = []
    var values: [Float] = []
    var filtered: [Float] = []
}
