import Base

/// The difference of two images of the same sky, smoothed so that its peaks are the best measurements of point sources.
///
/// The new image is smoothed with a Gaussian as wide as its own seeing, which is nearly the matched filter. The old image is
/// smoothed with the kernel that makes it look like that. So the kernel always smooths, even if the old image is the wider one,
/// and the difference needs no further filter (the pre-convolution of Becker et al. 2012, MNRAS 425, 1341, section 2).
package struct DifferenceImage {
    package var frame: PairFrame
    /// The smoothed new image; below, the old one with the same seeing and sensitivity.
    package private(set) var new: PixelArray
    package let old: PixelArray
    /// Their difference; below, the light that both have, because only such light can leave a residual.
    package private(set) var difference: PixelArray
    private(set) var common: PixelArray
    /// The noise of the difference; below, that of each of the two.
    package let noise: NoiseGrid
    let newNoise: Float
    let oldNoise: Float
    /// The variance in addition to the noise.
    let variances: PixelArray
    /// The image of a point source in the smoothed image; below, in each image as it is.
    let template: PointTemplate
    let newTemplate: PointTemplate
    let oldTemplate: PointTemplate
    package let widths: Widths
    /// The ratio of new to old flux.
    package let ratio: Double
    /// The number of stars with which the kernel was fitted.
    package let stars: Int

    /// Widths in pixels of the new image.
    package struct Widths {
        /// Full widths at half maximum.
        package let new: Double
        package let old: Double
        /// The width of the Gaussian that smooths the new image.
        package let filter: Double
        /// The width of a star in the difference.
        let target: Double

        init(_ order: DifferenceOrder) {
            let (x, y) = (
                Double(order.sector.core.x + order.sector.core.width / 2),
                Double(order.sector.core.y + order.sector.core.height / 2)
            )
            // The scale is in old pixels per new pixel.
            let (o, a, b) = (
                order.alignment.old(x: x, y: y), order.alignment.old(x: x + 1, y: y),
                order.alignment.old(x: x, y: y + 1)
            )
            let area = abs((a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x))
            let scale = area > 0.01 && area < 100 ? area.squareRoot() : 1
            func bounded(_ fwhm: Double) -> Double { fwhm.isFinite ? min(max(fwhm, 1), 15) : 3 }
            new = bounded(order.newSeeing)
            old = bounded(order.oldSeeing / scale)
            // The filter is wide enough that the old image must be smoothed too.
            filter = max(new * new, 1.5 * old * old - new * new).squareRoot()
            target = (new * new + filter * filter).squareRoot()
        }

        /// Sigma of the Gaussian that smooths the new image.
        var filterSigma: Double { filter / Gaussian.fwhm }
        /// Sigma of the Gaussian between the old image and the target.
        var kernelSigma: Double { max(target * target - old * old, 0.25).squareRoot() / Gaussian.fwhm }
        /// The pixels around a star to which the kernel is fitted.
        var fitReach: Int { Int((2.2 * target).rounded(.up)) }
        /// The pixels around a sector that are needed.
        package var margin: Int { Int((5.5 * kernelSigma).rounded(.up)) + Int((4 * target).rounded(.up)) + 8 }
    }

    init(
        frame: PairFrame, new: EpochImage, old: EpochImage, order: DifferenceOrder, widths: Widths,
        lanczos: LanczosFilter
    ) throws(SkyError) {
        self.frame = frame
        self.widths = widths
        let smoothed = frame.new.smoothed(sigma: widths.filterSigma)
        newNoise = NoiseGrid(smoothed, mask: frame.mask).sigma
        let match = try SeeingMatch(
            order, widths, frame: frame, smoothed: smoothed, noise: newNoise, new: new, old: old, lanczos: lanczos)
        let (stamps, kernel) = (match.stamps, match.kernel)
        stars = kernel.stars
        ratio = kernel.ratio
        let matched = frame.old.convolved(with: kernel.values, radius: kernel.radius)
        oldNoise = NoiseGrid(matched, mask: frame.mask).sigma
        let difference = smoothed.combined(with: matched) { $0 - $1 }
        let common = smoothed.combined(with: matched, Self.common)
        (self.new, self.old, self.difference, self.common) = (smoothed, matched, difference, common)
        noise = NoiseGrid(difference, mask: frame.mask)
        template = PointTemplate(stamps: stamps, fwhm: widths.target, lanczos: lanczos) { $0.smoothed }
        newTemplate = PointTemplate(stamps: stamps, fwhm: widths.new, lanczos: lanczos) { $0.new }
        let scale = Float(kernel.ratio)
        oldTemplate = PointTemplate(stamps: stamps, fwhm: widths.old, lanczos: lanczos) { $0.old.map { $0 * scale } }
        let filter = Gaussian.weights(sigma: widths.filterSigma).reduce(0.0) { $0 + Double($1) * Double($1) }
        let model = ResidualModel(
            difference: difference, common: common, noise: noise, mask: frame.mask,
            reach: Int((3 * widths.target).rounded(.up)),
            photons: order.gain > 0 ? (1 + kernel.ratio) * filter * filter / order.gain : nil)
        variances = model.variances(common: common)
    }

    /// The error of the difference at a pixel (1 sigma): its noise, and the possible residual of light that is in both images.
    package func error(x: Int, y: Int) -> Double {
        let sigma = Double(noise.sigma(x: x, y: y))
        return (sigma * sigma + Double(variances.values[y * variances.width + x])).squareRoot()
    }

    private static func common(_ new: Float, _ old: Float) -> Float { max(min(new, old), 0) }

    /// Sets another value of the smoothed new image, and the values that follow from it at the same pixel.
    package mutating func renew(_ index: Int, smoothed: Float) {
        new.values[index] = smoothed
        difference.values[index] = smoothed - old.values[index]
        common.values[index] = Self.common(smoothed, old.values[index])
    }

    /// Restores the values that `renew` changed.
    package mutating func restore(_ index: Int, new: Float, difference: Float, common: Float) {
        self.new.values[index] = new
        self.difference.values[index] = difference
        self.common.values[index] = common
    }
}
