import Glibc
import Testing

@testable import Sky

@Suite struct TangentPlaneTests {
    private func plane(_ change: (inout SkySynthesis) -> Void) -> TangentPlane {
        var recipe = SkySynthesis()
        change(&recipe)
        return TangentPlane(recipe)
    }

    @Test func `the middle of the frame is the reference position`() {
        let plane = plane { _ in }
        let position = plane.position(x: 1024.5, y: 1024.5)
        #expect(abs(position.alpha - 150.1) < 1e-12)
        #expect(abs(position.delta - 2.2) < 1e-12)
    }

    @Test func `north is up and east is left`() {
        let plane = plane {
            $0.rotation = 0; $0.declination = 0
        }
        #expect(abs(plane.position(x: 1024.5, y: 1924.5).delta - atan(0.1 * .pi / 180) * 180 / .pi) < 1e-12)
        #expect(plane.position(x: 124.5, y: 1024.5).alpha > 150.1)
    }

    @Test func `right ascension wraps and the pole is reached`() {
        let wrapped = plane {
            $0.rightAscension = 0; $0.rotation = 0
        }.position(x: 2000, y: 1024.5)
        #expect(359...360 ~= wrapped.alpha)
        let pole = plane {
            $0.declination = 90; $0.rotation = 0
        }
        #expect(abs(pole.position(x: 1024.5, y: 1924.5).delta - 89.9) < 1e-6)
    }

    @Test(arguments: [(150.1, 2.2), (0.001, -60), (10, 89.9999), (200, -90)])
    func `sky position and pixel are inverse to each other`(alpha: Double, delta: Double) throws {
        let plane = plane {
            ($0.rightAscension, $0.declination, $0.rotation) = (alpha, delta, 37)
        }
        for (x, y) in [(1.0, 1.0), (1024.5, 1024.5), (2000, 3), (-500, 2500)] {
            let position = plane.position(x: x, y: y)
            let pixel = try #require(plane.pixel(alpha: position.alpha, delta: position.delta))
            #expect(abs(pixel.x - x) < 1e-6 && abs(pixel.y - y) < 1e-6)
        }
        #expect(plane.pixel(alpha: alpha + 180, delta: -delta) == nil)
    }
}
