import Base
import Fixtures
import Foundation
import Testing

@testable import Sky

/// Which stars an injection means.
@Suite struct StarPlacementTests {
    private let injection = Injection(count: 200, faintest: 10, brightest: 1000, fwhm: 3)

    @Test func `an injection gives the same stars everywhere, and another seed gives other ones`() throws {
        let stars = try StarPlacement(injection, width: 800, height: 600).stars
        #expect(try StarPlacement(injection, width: 800, height: 600).stars == stars)
        var other = injection
        other.seed = 2
        #expect(try StarPlacement(other, width: 800, height: 600).stars != stars)
        #expect(stars.map(\.number) == Array(1...200))
    }

    @Test func `stars keep away from the edges and from each other`() throws {
        let stars = try StarPlacement(injection, width: 800, height: 600).stars
        #expect(stars.count == 200 && stars.allSatisfy { (7.0...794).contains($0.x) && (7.0...594).contains($0.y) })
        for (index, star) in stars.enumerated() {
            for other in stars[..<index] {
                #expect((star.x - other.x) * (star.x - other.x) + (star.y - other.y) * (star.y - other.y) >= 225)
            }
        }
        // The stars do not all lie in one corner.
        for half in [stars.filter { $0.x < 400 }, stars.filter { $0.y < 300 }] {
            #expect((75...125).contains(half.count))
        }
    }

    @Test func `equal ranges of magnitude have equal numbers of stars`() throws {
        let stars = try StarPlacement(injection, width: 800, height: 600).stars
        let tenths = stars.map { Int(5 * (3 - log10($0.flux))) }
        #expect((0..<10).map { tenth in tenths.count { $0 == tenth } } == Array(repeating: 20, count: 10))
    }

    @Test func `an injection that crowds the image or makes no sense is refused`() {
        var crowd = injection
        crowd.count = 2000
        let refusal = SkyError.thrown { () throws(SkyError) in try StarPlacement(crowd, width: 800, height: 600) }
        #expect(refusal?.kind == .badInput && refusal?.message.contains("has room for 720 injected stars") == true)
        #expect(injection.capacity(width: 10, height: 5) == 0)
        for (count, fwhm, faintest) in [
            (0, 3.0, 1.0), (Injection.countLimit + 1, 3, 1), (5, 0.5, 1), (5, .nan, 1), (5, 3, 0), (5, 3, .nan),
            (5, 3, 2000),
        ] {
            let wrong = Injection(count: count, faintest: faintest, brightest: 1000, fwhm: fwhm)
            #expect(SkyError.thrown { () throws(SkyError) in try wrong.validate() }?.kind == .badInput)
        }
    }

    @Test func `an image of an older journal has no injected stars`() throws {
        let old = Data(#"{"path":"/data/m13.fits"}"#.utf8)
        #expect(try JSONDecoder().decode(ImageReference.self, from: old).injection == nil)
        var reference = ImageReference(path: "/data/m13.fits", hdu: nil)
        #expect(try !String(decoding: JSONEncoder().encode(reference), as: UTF8.self).contains("injection"))
        reference.injection = injection
        let copy = try JSONDecoder().decode(ImageReference.self, from: try JSONEncoder().encode(reference))
        #expect(copy.injection == injection)
    }
}
