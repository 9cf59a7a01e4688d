import Base
import Glibc

extension SkySynthesis {
    /// Refuses a recipe that cannot be rendered.
    ///
    /// - Parameter memory: The number of bytes that this process may use; a frame may take three quarters of them. `nil` for
    ///   the machine's memory.
    /// - Throws: `SkyError` naming the first value that is wrong and the allowed values.
    public func validate(memory: UInt64? = nil) throws(SkyError) {
        try check("width", Double(width), 16...Double(Self.sideLimit), "pixels")
        try check("height", Double(height), 16...Double(Self.sideLimit), "pixels")
        guard width * height <= Self.pixelLimit else {
            throw SkyError(
                .badInput, "a frame of \(width) x \(height) pixels is too large; at most \(Self.pixelLimit) pixels fit")
        }
        try check(memory: memory ?? SkySynthesis.machineMemory)
        try check("number of stars", Double(starCount), 0...Double(Self.sourceLimit), "")
        try check("number of galaxies", Double(galaxyCount), 0...Double(Self.sourceLimit), "")
        try check("seeing (FWHM)", fwhm, 1...50, "pixels")
        try check("sky level", sky, 0...1e6, "ADU")
        try check("sky gradient", gradient, -1...1, "")
        try check("gain", gain, 1e-3...1e4, "electrons per ADU")
        try check("read noise", readNoise, 0...1e4, "electrons")
        try check("zero point", zeroPoint, -50...50, "magnitudes")
        try check("exposure time", exposure, 1e-3...1e6, "seconds")
        try check("brightest magnitude", brightest, -30...40, "")
        try check("faintest magnitude", faintest, -30...40, "")
        guard brightest + 4 <= faintest else {
            throw SkyError(
                .badInput,
                "the faintest magnitude, \(faintest), must be at least 4 larger than the brightest, \(brightest)")
        }
        guard flux(magnitude: brightest) <= 1e12 else {
            throw SkyError(
                .badInput,
                "a star of magnitude \(brightest) would be brighter than 1e12 ADU; raise the brightest magnitude")
        }
        try check("slope of the number counts", slope, 0...1, "")
        try check("saturation", saturation, 0...1e9, "ADU")
        guard saturation == 0 || saturation > sky else {
            throw SkyError(.badInput, "the saturation, \(saturation) ADU, must lie above the sky, \(sky) ADU")
        }
        try check("pixel scale", pixelScale, 1e-4...600, "seconds of arc")
        guard Double(max(width, height)) * pixelScale <= 60 * 3600 else {
            throw SkyError(.badInput, "the frame would span more than 60 degrees; take a smaller pixel scale")
        }
        try check("right ascension", rightAscension, 0...360, "degrees")
        try check("declination", declination, -90...90, "degrees")
        try check("rotation", rotation, -360...360, "degrees")
        try checkBlemishes()
        try checkEpochs()
    }

    private func checkBlemishes() throws(SkyError) {
        try check("number of cosmic rays", Double(cosmicRays), 0...1e6, "")
        try check("number of trails", Double(trails), 0...1000, "")
        try check("brightness of trails", trailBrightness, 0...1e6, "ADU")
        guard PixelFormat(rawValue: bitpix) != nil else {
            throw SkyError(.badInput, "the BITPIX must be 8, 16, 32, 64, -32 or -64, not \(bitpix)")
        }
        if let ceiling = format.ceiling, sky >= ceiling {
            throw SkyError(
                .badInput,
                "a sky of \(Self.plain(sky)) ADU does not fit BITPIX \(bitpix), which ends at \(Self.plain(ceiling))")
        }
    }

    private func checkEpochs() throws(SkyError) {
        try check("number of epochs", Double(epochs), 1...1000, "")
        try check("dither", dither, 0...Double(min(width, height)) / 2, "pixels, half the smaller side")
        try check("interval between epochs", interval, 1...1e8, "seconds")
        try check("number of transients", Double(transients), 0...100_000, "")
        try check("number of movers", Double(movers), 0...100_000, "")
        try check("number of variable stars", Double(variables), 0...Double(max(starCount, 0)), "")
        try check("slowest rate of movers", slowest, 1e-3...1e5, "seconds of arc per hour")
        try check("fastest rate of movers", fastest, slowest...1e5, "seconds of arc per hour")
        guard epochs == 1 || interval >= exposure else {
            throw SkyError(
                .badInput,
                "the interval between epochs, \(Self.plain(interval)) seconds, must not be shorter than the exposure, "
                    + "\(Self.plain(exposure)) seconds")
        }
        for (name, count) in [("transients", transients), ("movers", movers), ("variables", variables)]
        where epochs == 1 && count > 0 {
            throw SkyError(.badInput, "\(name) need at least 2 epochs")
        }
    }

    private func check(_ name: String, _ value: Double, _ range: ClosedRange<Double>, _ unit: String) throws(SkyError) {
        guard !range.contains(value) else { return }
        let end = unit.isEmpty ? "" : " " + unit
        throw SkyError(
            .badInput,
            "the \(name) must be \(Self.plain(range.lowerBound)) to \(Self.plain(range.upperBound))\(end), "
                + "not \(Self.plain(value))")
    }

    private static func plain(_ value: Double) -> String {
        Int(exactly: value).map { String($0) } ?? String(value)
    }

    private static var machineMemory: UInt64 {
        let pages = sysconf(Int32(_SC_PHYS_PAGES))
        return pages > 0 ? UInt64(pages) * UInt64(sysconf(Int32(_SC_PAGESIZE))) : .max
    }

    /// Refuses a frame that does not fit in memory, because the system would kill the program half-way otherwise.
    private func check(memory: UInt64) throws(SkyError) {
        let needed = width * height * MemoryLayout<Float>.size
        let available = Int(clamping: memory)
        guard needed <= available / 4 * 3 else {
            throw SkyError(
                .badInput,
                "a frame of \(width) x \(height) pixels needs \(needed >> 20) MiB of memory; "
                    + "this machine has \(available >> 20) MiB")
        }
    }
}
