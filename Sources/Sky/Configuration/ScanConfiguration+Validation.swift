import Base

extension ScanConfiguration {
    /// The largest number of apertures of one scan.
    public static let apertureLimit = 32
    /// The thicknesses of the annulus for the local background that a user may ask for, in pixels.
    private static let localBackgroundThicknesses = 1...256

    /// Refuses every value on which SEP would crash, never end, or go wrong silently; SEP itself checks almost nothing.
    ///
    /// - Throws: `.badInput` with one line that names the setting, its value and the values allowed.
    public func validate() throws(SkyError) {
        try check(threshold.isFinite && threshold > 0 && threshold <= 1e6, "threshold", threshold, "above 0")
        try check((1...10_000).contains(minimumArea), "minimum area", minimumArea, "1 to 10000 pixels")
        try check((1...64).contains(deblendLevels), "deblending levels", deblendLevels, "1 (none) to 64")
        try check((0...1).contains(deblendContrast), "deblending contrast", deblendContrast, "0 to 1")
        if let cleanParameter {
            try check((0.1...10).contains(cleanParameter), "clean parameter", cleanParameter, "0.1 to 10")
        }
        try check((8...8192).contains(meshSize), "background mesh", meshSize, "8 to 8192 pixels")
        try check(
            (1...31).contains(meshFilterSize) && meshFilterSize % 2 == 1,
            "background filter", meshFilterSize, "an odd number from 1 to 31")
        try check(
            (1...ScanConfiguration.apertureLimit).contains(apertureDiameters.count), "number of apertures",
            apertureDiameters.count, "1 to \(ScanConfiguration.apertureLimit)")
        for diameter in apertureDiameters {
            try check(
                diameter > 0 && diameter <= 1000, "aperture diameter", diameter, "above 0, up to 1000 pixels")
        }
        if case .gaussian(let fwhm) = filter {
            try check(
                DetectionFilter.widths.contains(fwhm), "FWHM of the filter", fwhm,
                "\(DetectionFilter.widths.lowerBound) to \(DetectionFilter.widths.upperBound) pixels")
        }
        if let saturation { try check(saturation.isFinite, "saturation level", saturation, "a finite value") }
        if let gain { try check(gain.isFinite && gain >= 0, "gain", gain, "0 (unknown) or more") }
        if let zeroPoint {
            try check((-1000...1000).contains(zeroPoint), "zero point", zeroPoint, "-1000 to 1000 magnitudes")
        }
        if let seeing {
            try check(
                Seeing.widths.contains(seeing), "width of the stars", seeing,
                "\(Seeing.widths.lowerBound) to \(Seeing.widths.upperBound) pixels")
        }
        if let sectorSize {
            // Smaller sectors would be mostly margin, and there would be no limit to their number.
            try check((64...1_048_576).contains(sectorSize), "sector size", sectorSize, "64 to 1048576 pixels")
            try check(
                sectorSize % meshSize == 0, "sector size", sectorSize,
                "a multiple of the background mesh, \(meshSize), so that no mesh is cut")
        }
        try check((0...4096).contains(margin), "margin", margin, "0 to 4096 pixels")
        if let hdu {
            try check((0..<10_000).contains(hdu), "HDU", hdu, "0 to 9999")
        }
        if let localBackground {
            try check(
                Self.localBackgroundThicknesses.contains(localBackground), "thickness of the local background",
                localBackground,
                "1 to \(Self.localBackgroundThicknesses.upperBound) pixels")
        }
        if let checkParts {
            try check(
                !checkParts.isEmpty && CheckParts.all.isSuperset(of: checkParts), "parts for check images",
                checkParts.rawValue, "1 to \(CheckParts.all.rawValue)")
        }
        try CatalogueColumn.check(columns, apertures: apertureDiameters.count)
    }

    private func check(
        _ holds: Bool, _ name: String, _ value: some CustomStringConvertible, _ allowed: String
    ) throws(SkyError) {
        guard holds else { throw SkyError(.badInput, "\(name) \(value): it must be \(allowed)") }
    }
}
