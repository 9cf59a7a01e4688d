import ArgumentParser
import SkyCore

/// What decides the catalogue. Names and defaults are SExtractor's where it has them.
struct DetectionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Detection threshold in units of the background's RMS.", valueName: "sigma"))
    var threshold = ScanConfiguration().threshold

    @Option(name: .customLong("min-area"), help: ArgumentHelp("Fewest pixels of a source.", valueName: "pixels"))
    var minimumArea = ScanConfiguration().minimumArea

    @Option(help: ArgumentHelp("Diameter of the circular aperture.", valueName: "pixels"))
    var aperture = ScanConfiguration().apertureDiameter

    @Option(help: ArgumentHelp("Electrons per unit of the image; 0 for unknown.", valueName: "gain"))
    var gain = ScanConfiguration().gain

    @Option(name: .customLong("zero-point"), help: ArgumentHelp("Magnitude of one unit of flux.", valueName: "mag"))
    var zeroPoint = ScanConfiguration().zeroPoint

    @Option(help: ArgumentHelp("Side of a background mesh.", valueName: "pixels"))
    var mesh = ScanConfiguration().meshSize

    @Option(help: ArgumentHelp("Side of a sector, or `full` for the whole image as one.", valueName: "pixels"))
    var sector = "1024"

    @Option(help: ArgumentHelp("Width of the rim that a sector looks at beyond its own.", valueName: "pixels"))
    var margin = ScanConfiguration().margin

    @Option(help: ArgumentHelp("Which HDU, 0 for the primary. Default: the first with an image.", valueName: "n"))
    var hdu: Int?

    func configuration() throws -> ScanConfiguration {
        var configuration = ScanConfiguration()
        configuration.threshold = threshold
        configuration.minimumArea = minimumArea
        configuration.apertureDiameter = aperture
        configuration.gain = gain
        configuration.zeroPoint = zeroPoint
        configuration.meshSize = mesh
        configuration.margin = margin
        configuration.hdu = hdu
        if sector == "full" {
            configuration.sectorSize = nil
        } else if let size = Int(sector) {
            configuration.sectorSize = size
        } else {
            throw CommandFailure(.usage, "--sector takes a number of pixels or `full`")
        }
        try configuration.validate()
        return configuration
    }
}
