import Base

/// All settings of a scan that decide its catalogue, each declared once. Names and defaults are those of SExtractor where it has them.
package enum ScanKeys {
    /// All of them, in the order in which they are set.
    package static let all: [ScanKey] = finding + measuring + cutting + [columns, hdu]

    /// How sources are found, and above which background. The header of a catalogue has them in this order.
    static let finding: [ScanKey] = [
        preset, threshold, thresholdUnit, minimumArea, filter, fwhm, deblendLevels, deblendContrast, clean, mesh,
        meshFilter, background, backgroundThickness, aperture,
    ]

    /// How they are measured. What the header says of these comes from the image's, too.
    private static let measuring = [gain, saturation, zeroPoint, seeing]

    static let cutting = [sector, margin]

    package static func named(_ name: String) -> ScanKey? { all.first { $0.name == name } }

    // MARK: - How sources are found

    package static let preset = word(
        "preset", DetectionPreset.self, "name",
        """
        sextractor: SExtractor's defaults (threshold 1.5, at least 5 pixels, default filter). sensitive: twice as many faint \
        stars (a filter as wide as the image's stars, 5 sigma of the filtered noise, any area). Other flags go on top. Default: sextractor.
        """
    ) { $0 = $1.configuration }

    package static let threshold = card(
        number(
            "threshold", "threshold", ScanKey.Bounds(lowest: 0, highest: 1e6, isAbove: true), "sigma",
            "Detection threshold in units of the background's RMS. Default: 1.5, or the preset's."
        ) { $0.threshold = $1 }
    ) { [FITSCard("THRESH", .real($0.threshold), "[sigma] DETECT_THRESH")] }

    package static let thresholdUnit = card(
        word(
            "threshold-unit", ThresholdUnit.self, "pixel|filtered",
            "Measure the RMS in the original image (pixel) or in the filtered one (filtered). Default: pixel, or the preset's."
        ) { $0.thresholdUnit = $1 }
    ) { [FITSCard("THRUNIT", .text($0.thresholdUnit.rawValue), "noise of pixels, or of the filtered image")] }

    package static let minimumArea = card(
        whole(
            "min-area", "minimum area", ScanKey.Bounds(lowest: 1, highest: 10_000, unit: "pixels"), "pixels",
            "Minimum number of connected pixels above the threshold (DETECT_MINAREA). Default: 5, or the preset's."
        ) { $0.minimumArea = $1 }
    ) { [FITSCard("MINAREA", .integer($0.minimumArea), "[pixel] DETECT_MINAREA")] }

    private static let filters = [DetectionFilter.none, .pyramid, .seeing]

    package static let filter = ScanKey(
        name: "filter", title: "filter", form: .file(ending: ".conv"), words: filters.map(\.name),
        placeholder: "name|file.conv",
        help: """
            How the image is smoothed for detection: none, default (3x3 pyramid), seeing (a Gaussian as wide as the image's \
            stars), or the weights of a .conv file of SExtractor's. Default: default, or the preset's.
            """, isIndependent: false
    ) { text, configuration throws(SkyError) in
        if let filter = filters.first(where: { $0.name == text.text }) { return configuration.filter = filter }
        configuration.filter = try text.parsed(text.text, of: "filter", limit: ConvolutionKernel.fileLimit) {
            bytes throws(SkyError) in .kernel(try ConvolutionKernel(file: bytes))
        }
    }

    package static let fwhm = dependent(
        number(
            "fwhm", "FWHM of the filter",
            ScanKey.Bounds(
                lowest: DetectionFilter.widths.lowerBound, highest: DetectionFilter.widths.upperBound, unit: "pixels"),
            "pixels", "Smooth with a Gaussian of this full width at half maximum."
        ) { $0.filter = .gaussian(fwhm: $1) })

    package static let deblendLevels = card(
        whole(
            "deblend-levels", "deblending levels", ScanKey.Bounds(lowest: 1, highest: 64), "n",
            "Number of deblending levels (DEBLEND_NTHRESH); 1 for no deblending. Default: 32."
        ) { $0.deblendLevels = $1 }
    ) { [FITSCard("NTHRESH", .integer($0.deblendLevels), "DEBLEND_NTHRESH")] }

    package static let deblendContrast = card(
        number(
            "deblend-contrast", "deblending contrast", ScanKey.Bounds(lowest: 0, highest: 1), "share",
            "Smallest fraction of a blend's flux that counts as a separate source (DEBLEND_MINCONT). Default: 0.005."
        ) { $0.deblendContrast = $1 }
    ) { [FITSCard("MINCONT", .real($0.deblendContrast), "DEBLEND_MINCONT")] }

    package static let clean = card(
        numeric(
            .number, "clean", "clean parameter", ScanKey.Bounds(lowest: 0.1, highest: 10), "number",
            """
            SExtractor's CLEAN_PARAM, 0.1 to 10: lower values remove more spurious detections near bright sources; off to keep \
            all. Default: 1.
            """, or: "off"
        ) { $0.cleanParameter = $1 }
    ) { [FITSCard("CLEAN", .real($0.cleanParameter ?? 0), "CLEAN_PARAM, 0 for no cleaning")] }

    package static let sector = card(
        dependent(
            numeric(
                .whole, "sector", "sector size", ScanKey.Bounds(lowest: 64, highest: 1_048_576, unit: "pixels"),
                "pixels",
                "Side of a sector, or `full` for the whole image as one. Default: 1024.", or: "full"
            ) { $0.sectorSize = $1 })
    ) { [FITSCard("SECTOR", .integer($0.sectorSize ?? 0), "[pixel] side of a sector, 0 for the whole image")] }

    package static let margin = card(
        whole(
            "margin", "margin", ScanKey.Bounds(lowest: 0, highest: 4096, unit: "pixels"), "pixels",
            "Overlap: pixels read beyond each sector's edge. Default: 64."
        ) { $0.margin = $1 }
    ) { [FITSCard("MARGIN", .integer($0.margin), "[pixel] rim around a sector")] }

    // MARK: - How sources are measured

    package static let aperture = card(
        ScanKey(
            name: "aperture", title: "aperture diameter", form: .numbers,
            bounds: ScanKey.Bounds(lowest: 0, highest: 1000, isAbove: true, unit: "pixels"), placeholder: "pixels,...",
            help: "Diameters of the circular apertures, with commas in between. Default: 10.", isIndependent: false
        ) { text, configuration in configuration.apertureDiameters = ScanText.numbers(text.text) ?? [] }
    ) { configuration in
        configuration.apertureDiameters.enumerated().map {
            FITSCard("APER\($0.offset + 1)", .real($0.element), "[pixel] PHOT_APERTURES, a diameter")
        }
    }

    package static let gain = number(
        "gain", "gain", ScanKey.Bounds(lowest: 0), "gain",
        "Electrons per unit of the image, 0 for unknown. Default: the header's GAIN."
    ) { $0.gain = $1 }

    package static let saturation = number(
        "saturation", "saturation level", nil, "value",
        "Flag sources with pixels of this value and above as saturated. Default: the header's SATURATE."
    ) { $0.saturation = $1 }

    package static let zeroPoint = number(
        "zero-point", "zero point", ScanKey.Bounds(lowest: -1000, highest: 1000, unit: "magnitudes"), "mag",
        "Magnitude of one unit of flux. Default: the header's, or 0."
    ) { $0.zeroPoint = $1 }

    package static let seeing = number(
        "seeing", "width of the stars",
        ScanKey.Bounds(lowest: Seeing.widths.lowerBound, highest: Seeing.widths.upperBound, unit: "pixels"), "pixels",
        """
        Full width at half maximum of the stars, for whatever needs it: --filter seeing, --inject, --reference. Default: it is \
        measured.
        """
    ) { $0.seeing = $1 }

    // MARK: - Which background is subtracted

    private enum Background: String, CaseIterable { case global, local }

    package static let background = word(
        "background", Background.self, "global|local",
        "Background of the fluxes: global (the image's) or local (of an annulus around each source, too). Default: global."
    ) { $0.localBackground = $1 == .local ? usualThickness : nil }

    private static let usualThickness = 24

    package static let backgroundThickness = card(
        dependent(
            whole(
                "background-thickness", "thickness of the local background",
                ScanKey.Bounds(lowest: 1, highest: 256, unit: "pixels"), "pixels",
                "With --background local: thickness of the annulus. Default: \(usualThickness)."
            ) { $0.localBackground = $1 })
    ) {
        $0.localBackground.map { [FITSCard("BACKTHIC", .integer($0), "[pixel] BACKPHOTO_THICK, a local background")] }
            ?? []
    }

    package static let mesh = card(
        dependent(
            whole(
                "mesh", "background mesh", ScanKey.Bounds(lowest: 8, highest: 8192, unit: "pixels"), "pixels",
                "Side of a background mesh. Default: 64."
            ) { $0.meshSize = $1 })
    ) { [FITSCard("BACKSIZE", .integer($0.meshSize), "[pixel] BACK_SIZE")] }

    package static let meshFilter = card(
        dependent(
            whole(
                "mesh-filter", "background filter", ScanKey.Bounds(lowest: 1, highest: 31), "meshes",
                "Side of the median filter over the meshes, odd; 1 for none. Default: 3."
            ) { $0.meshFilterSize = $1 })
    ) { [FITSCard("BACKFILT", .integer($0.meshFilterSize), "[mesh] BACK_FILTERSIZE")] }

    // MARK: - What is written, and which image is read

    package static let columns = ScanKey(
        name: "columns", title: "columns", form: .text, placeholder: "name,...",
        help: """
            Columns of the catalogue, with commas in between; +NAME,... for these beside the usual ones; @FILE for those of a \
            parameter file of SExtractor's. Beside the usual ones there are \(ColumnList.further).
            """, isIndependent: false
    ) { text, configuration throws(SkyError) in
        let apertures = configuration.apertureDiameters.count
        if let path = ScanText.file(text.text) {
            configuration.columns = try text.parsed(path, of: "columns", limit: ColumnList.sizeLimit) {
                bytes throws(SkyError) in try ColumnList.names(file: bytes, apertures: apertures)
            }
            return
        }
        do throws(SkyError) {
            configuration.columns = try ColumnList.names(text.text, apertures: apertures)
        } catch {
            throw SkyError(.badInput, "--columns: \(error.message)")
        }
    }

    package static let hdu = dependent(
        whole(
            "hdu", "HDU", ScanKey.Bounds(lowest: 0, highest: 9999), "n",
            """
            Scan only this HDU, 0 for the primary. Default: all images in a file, without those that are weights, errors, \
            masks and the like by name, type or place, and without cubes where there are images.
            """
        ) { $0.hdu = $1 })

    // MARK: - The list as a whole

    /// The lines in docs/openapi.yaml. Those that go only with others are left out: a program that makes requests from the document
    /// could not know which.
    package static var schemas: [String] { all.filter(\.isIndependent).map(\.schema) }

    // MARK: - How they are declared

    private static func card(
        _ key: ScanKey, _ cards: @escaping @Sendable (ScanConfiguration) -> [FITSCard]
    ) -> ScanKey {
        var key = key
        key.cards = cards
        return key
    }

    private static func number(
        _ name: String, _ title: String, _ bounds: ScanKey.Bounds?, _ placeholder: String, _ help: String,
        _ set: @escaping @Sendable (inout ScanConfiguration, Double) -> Void
    ) -> ScanKey {
        numeric(.number, name, title, bounds, placeholder, help) {
            (configuration: inout ScanConfiguration, number: Double?) in
            if let number { set(&configuration, number) }
        }
    }

    private static func whole(
        _ name: String, _ title: String, _ bounds: ScanKey.Bounds?, _ placeholder: String, _ help: String,
        _ set: @escaping @Sendable (inout ScanConfiguration, Int) -> Void
    ) -> ScanKey {
        numeric(.whole, name, title, bounds, placeholder, help) {
            (configuration: inout ScanConfiguration, number: Int?) in
            if let number { set(&configuration, number) }
        }
    }

    /// - Parameter word: the word for no number, where there is one.
    private static func numeric<Number: LosslessStringConvertible & SendableMetatype>(
        _ form: ScanKey.Form, _ name: String, _ title: String, _ bounds: ScanKey.Bounds?, _ placeholder: String,
        _ help: String, or word: String? = nil,
        _ set: @escaping @Sendable (inout ScanConfiguration, Number?) -> Void
    ) -> ScanKey {
        ScanKey(
            name: name, title: title, form: form, bounds: bounds, words: [word].compactMap { $0 },
            placeholder: placeholder, help: help
        ) { text, configuration in set(&configuration, Number(text.text)) }
    }

    private static func word<Value: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ type: Value.Type, _ placeholder: String, _ help: String,
        _ set: @escaping @Sendable (inout ScanConfiguration, Value) -> Void
    ) -> ScanKey {
        ScanKey(
            name: name, title: name, form: .word, words: Value.allCases.map(\.rawValue), placeholder: placeholder,
            help: help
        ) { text, configuration in if let value = Value(rawValue: text.text) { set(&configuration, value) } }
    }

    private static func dependent(_ key: ScanKey) -> ScanKey {
        var key = key
        key.isIndependent = false
        return key
    }
}
