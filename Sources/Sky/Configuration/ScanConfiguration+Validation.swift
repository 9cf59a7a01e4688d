import Base

extension ScanConfiguration {
    /// The largest number of apertures of one scan.
    public static let apertureLimit = 32

    /// Refuses every value on which SEP would crash, never end, or go wrong silently; SEP itself checks almost nothing.
    ///
    /// - Throws: `.badInput` with one line that names the setting, its value and the values allowed.
    public func validate() throws(SkyError) {
        try ScanKeys.threshold.check(threshold)
        try ScanKeys.minimumArea.check(minimumArea)
        try ScanKeys.deblendLevels.check(deblendLevels)
        try ScanKeys.deblendContrast.check(deblendContrast)
        if let cleanParameter { try ScanKeys.clean.check(cleanParameter) }
        try ScanKeys.mesh.check(meshSize)
        try check(meshFilterSize % 2 == 1, "background filter", meshFilterSize, "an odd number from 1 to 31")
        try ScanKeys.meshFilter.check(meshFilterSize)
        try check(
            (1...ScanConfiguration.apertureLimit).contains(apertureDiameters.count), "number of apertures",
            apertureDiameters.count, "1 to \(ScanConfiguration.apertureLimit)")
        for diameter in apertureDiameters { try ScanKeys.aperture.check(diameter) }
        if case .gaussian(let fwhm) = filter { try ScanKeys.fwhm.check(fwhm) }
        if let saturation { try ScanKeys.saturation.check(saturation) }
        if let gain { try ScanKeys.gain.check(gain) }
        if let zeroPoint { try ScanKeys.zeroPoint.check(zeroPoint) }
        if let seeing { try ScanKeys.seeing.check(seeing) }
        if let sectorSize {
            // Smaller sectors would be mostly margin, and there would be no limit to their number.
            try ScanKeys.sector.check(sectorSize)
            try check(
                sectorSize % meshSize == 0, "sector size", sectorSize,
                "a multiple of the background mesh, \(meshSize), so that no mesh is cut")
        }
        try ScanKeys.margin.check(margin)
        if let hdu { try ScanKeys.hdu.check(hdu) }
        if let localBackground { try ScanKeys.backgroundThickness.check(localBackground) }
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
