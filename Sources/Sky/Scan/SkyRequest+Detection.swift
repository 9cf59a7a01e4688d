import Base

extension SkyRequest {
    /// Refuses, before any work is done, options that cannot be combined with a detection image.
    ///
    /// - Throws: `.badInput` in the words of the command line.
    func validateDetection() throws(SkyError) {
        guard let detection = image.detection else { return }
        let contradictions: [(isThere: Bool, words: String)] = [
            (detection.background != nil, "a request brings no background of its detection image"),
            (
                image.layer?.bayer != nil,
                "--detect does not go with --bayer: a colour is every second pixel of the frame, and no image's size"
            ),
            (image.injection != nil, "--detect does not go with --inject: artificial stars are put into one image"),
            (
                purpose?.isCompared ?? false,
                "--detect does not go with --reference: a comparison finds the sources of each image by itself"
            ),
            (
                purpose?.injection != nil,
                "--detect does not go with --inject: artificial stars are put into one image"
            ),
            (checkImages != nil, "--detect does not go with --check-image: check images show what one image was"),
            (
                configuration.filter == .seeing && configuration.seeing == nil,
                "--detect with --filter seeing: name the width of the detection image's stars with --seeing"
            ),
        ]
        if let found = contradictions.first(where: \.isThere) { throw SkyError(.badInput, found.words) }
    }
}
