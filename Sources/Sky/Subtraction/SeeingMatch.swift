import Base

/// The stars that show how the seeing of two images differs around a place, and the kernel that corrects the difference.
struct SeeingMatch {
    let stamps: [StarStamp]
    let kernel: MatchingKernel

    /// Cuts the stars of `order` out of `frame`, or out of the images if they lie outside of the frame, and fits the kernel.
    ///
    /// - Parameters:
    ///   - smoothed: The new image of the frame after its filter.
    ///   - noise: The noise of the smoothed image, 1 sigma.
    /// - Throws: `SkyError` if an image cannot be read.
    init(
        _ order: DifferenceOrder, _ widths: DifferenceImage.Widths, frame: PairFrame, smoothed: PixelArray,
        noise: Float, new: EpochImage, old: EpochImage, lanczos: LanczosFilter
    ) throws(SkyError) {
        let basis = KernelBasis(sigma: widths.kernelSigma, stars: order.stars.count)
        let reach = max(widths.fitReach + basis.radius, PointTemplate.radius + 4)
        var stamps: [StarStamp] = []
        for star in order.stars {
            if let stamp = StarStamp(of: star, from: frame, smoothed: smoothed, radius: reach) {
                stamps.append(stamp)
            } else if let stamp = try Self.far(star, reach, new, old, order, widths.filterSigma, lanczos) {
                stamps.append(stamp)
            }
        }
        self.stamps = stamps
        kernel =
            MatchingKernel(
                stamps: stamps, basis: basis, reach: widths.fitReach, noise: Double(max(noise, 1e-20)))
            ?? MatchingKernel(sigma: widths.kernelSigma, ratio: order.ratio)
    }

    /// The stamp of a star outside the frame.
    private static func far(
        _ star: ReferenceStar, _ reach: Int, _ new: EpochImage, _ old: EpochImage, _ order: DifferenceOrder,
        _ filterSigma: Double, _ lanczos: LanczosFilter
    ) throws(SkyError) -> StarStamp? {
        guard abs(star.x) < 1e9, abs(star.y) < 1e9 else { return nil }
        let rim = reach + Int((4 * filterSigma).rounded(.up)) + 1
        let rect = PixelRect(
            x: Int(star.x.rounded()) - rim, y: Int(star.y.rounded()) - rim, width: 2 * rim + 1, height: 2 * rim + 1)
        guard new.info.contains(rect),
            let frame = try PairFrame(rect: rect, new: new, old: old, order: order, lanczos: lanczos)
        else { return nil }
        return StarStamp(of: star, from: frame, smoothed: frame.new.smoothed(sigma: filterSigma), radius: reach)
    }
}
