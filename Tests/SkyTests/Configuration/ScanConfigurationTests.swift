import Base
import Fixtures
import Sky
import Testing

@Suite struct ScanConfigurationTests {
    @Test func `the defaults are valid`() throws {
        try ScanConfiguration().validate()
    }

    static let wrong: [@Sendable (inout ScanConfiguration) -> Void] = [
        { $0.threshold = 0 }, { $0.threshold = .nan }, { $0.threshold = .infinity }, { $0.minimumArea = 0 },
        { $0.minimumArea = .max }, { $0.deblendLevels = 0 }, { $0.deblendLevels = 65 }, { $0.deblendContrast = .nan },
        { $0.deblendContrast = -1 }, { $0.cleanParameter = 0 }, { $0.cleanParameter = .nan }, { $0.meshSize = 0 },
        { $0.meshSize = -64 }, { $0.meshFilterSize = 2 }, { $0.meshFilterSize = 0 }, { $0.apertureDiameters = [0] },
        { $0.apertureDiameters = [5, .infinity] }, { $0.apertureDiameters = [] },
        { $0.apertureDiameters = Array(repeating: 5, count: 33) }, { $0.filter = .gaussian(fwhm: .nan) },
        { $0.filter = .gaussian(fwhm: 0) }, { $0.filter = .gaussian(fwhm: 100) }, { $0.saturation = .nan },
        { $0.gain = -1 }, { $0.gain = .nan }, { $0.zeroPoint = .nan },
        { $0.sectorSize = 100 }, { $0.sectorSize = 0 }, { $0.sectorSize = -64 }, { $0.margin = -1 },
        { $0.margin = .max }, { $0.hdu = -1 },
    ]

    @Test(arguments: wrong.indices)
    func `settings that would crash or mislead SEP are refused`(index: Int) {
        var configuration = ScanConfiguration()
        Self.wrong[index](&configuration)
        let error = SkyError.thrown { () throws(SkyError) in try configuration.validate() }
        #expect(error?.kind == .badInput)
    }

    @Test func `a refusal names the setting, its value and what is allowed`() {
        var configuration = ScanConfiguration()
        configuration.sectorSize = 1000
        let error = SkyError.thrown { () throws(SkyError) in try configuration.validate() }
        #expect(
            error?.message
                == "sector size 1000: it must be a multiple of the background mesh, 64, so that no mesh is cut")
    }
}
