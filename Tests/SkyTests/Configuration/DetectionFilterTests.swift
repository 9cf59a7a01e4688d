import Foundation
import Testing

@testable import Sky

@Suite struct DetectionFilterTests {
    @Test func `a kernel is odd, symmetric and normed`() {
        for filter in [DetectionFilter.pyramid, .gaussian(fwhm: 0.5), .gaussian(fwhm: 3.2), .gaussian(fwhm: 15)] {
            let kernel = DetectionKernel(filter)
            #expect(kernel.width % 2 == 1 && kernel.values.count == kernel.width * kernel.height)
            #expect(kernel.values == kernel.values.reversed())
            #expect(abs(kernel.normed.reduce(0, +) - 1) < 1e-5)
        }
        #expect(DetectionKernel(.none).normed.isEmpty && DetectionKernel(.none).radius == 0)
    }

    @Test func `a Gaussian is half as high at half its width`() {
        let kernel = DetectionKernel(.gaussian(fwhm: 4))
        let middle = kernel.radius * kernel.width + kernel.radius
        #expect(abs(kernel.values[middle + 2] / kernel.values[middle] - 0.5) < 1e-6)
    }

    @Test func `the noise of the filtered image is known`() {
        // sqrt(36) / 16.
        #expect(DetectionKernel(.pyramid).noiseFactor == 0.375)
        #expect(DetectionKernel(.none).noiseFactor == 1)
    }

    @Test func `settings of this and earlier versions can be read`() throws {
        let old = """
            {"threshold":2,"minimumArea":5,"deblendLevels":32,"deblendContrast":0.005,"meshSize":64,"meshFilterSize":3,
            "apertureDiameter":7,"gain":0,"zeroPoint":25,"sectorSize":512,"margin":64}
            """
        let read = try JSONDecoder().decode(ScanConfiguration.self, from: Data(old.utf8))
        #expect(read.threshold == 2 && read.apertureDiameters == [7] && read.filter == .pyramid)
        #expect(read.sectorSize == 512 && read.cleanParameter == nil)

        for var configuration in DetectionPreset.allCases.map(\.configuration) {
            configuration.filter = configuration.filter == .seeing ? .gaussian(fwhm: 2.5) : configuration.filter
            configuration.apertureDiameters = [3, 4.5]
            configuration.saturation = 60_000
            let copy = try JSONDecoder().decode(ScanConfiguration.self, from: JSONEncoder().encode(configuration))
            #expect(copy == configuration)
        }
    }
}
