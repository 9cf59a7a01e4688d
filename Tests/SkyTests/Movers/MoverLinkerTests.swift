import Fixtures
import Testing

@testable import Sky

@Suite struct MoverLinkerTests {
    private func detection(_ x: Double, _ y: Double, flux: Double = 1000, strong: Bool = true) -> MoverDetection {
        MoverDetection(x: x, y: y, error: 0.1, flux: flux, fluxError: 50, significance: 20, isStrong: strong)
    }

    private func linker(_ times: [Double]) -> MoverLinker {
        MoverLinker(times: times, scale: 1, maximumRate: 150)
    }

    @Test func `three places on a straight line at the right times are a track`() throws {
        let tracks = linker([0, 1, 3]).tracks([
            [detection(100, 100)], [detection(130, 80.1)], [detection(190.1, 40)],
        ])
        let track = try #require(tracks.first)
        #expect(tracks.count == 1 && track.points.count == 3)
        #expect(abs(track.rateX - 30) < 0.1 && abs(track.rateY + 20) < 0.1)
    }

    @Test func `detections that stand still, bend, change their flux or are weak twice make no track`() {
        let still = [[detection(100, 100)], [detection(100.2, 100)], [detection(100.1, 100)]]
        let bent = [[detection(100, 100)], [detection(130, 100)], [detection(160, 105)]]
        let flickering = [[detection(100, 100)], [detection(130, 100)], [detection(160, 100, flux: 3000)]]
        let weak = [
            [detection(100, 100)], [detection(130, 100, strong: false)], [detection(160, 100, strong: false)],
        ]
        for epochs in [still, bent, flickering, weak] { #expect(linker([0, 1, 2]).tracks(epochs).isEmpty) }
    }

    @Test func `a weak detection completes a track`() {
        let epochs = [[detection(100, 100)], [detection(130, 100)], [detection(160, 100, strong: false)]]
        #expect(linker([0, 1, 2]).tracks(epochs).count == 1)
    }

    @Test func `an image without the mover does not end a track`() throws {
        let epochs = [[detection(100, 100)], [], [detection(160, 100)], [detection(190, 100)]]
        let track = try #require(linker([0, 1, 2, 3]).tracks(epochs).first)
        #expect(track.points.map(\.epoch) == [0, 2, 3])
    }

    @Test func `true tracks are found among random detections, in any order, and no false ones`() {
        var random = RandomStream(seed: 3, purpose: 9)
        var epochs = [[MoverDetection]](repeating: [], count: 3)
        for _ in 0..<40 {
            let (x, y, angle) = (random.uniform(100, 3900), random.uniform(100, 3900), random.uniform(0, 6.28))
            let (rate, flux) = (random.uniform(8, 75), random.uniform(800, 9000))
            for epoch in 0..<3 {
                let way = rate * Double(epoch)
                epochs[epoch].append(
                    detection(
                        x + way * (1 - angle / 3.14) + 0.1 * random.normal(), y + way * 0.5 + 0.1 * random.normal(),
                        flux: flux))
            }
        }
        for epoch in 0..<3 {
            for _ in 0..<100 {
                epochs[epoch].append(
                    detection(random.uniform(0, 4000), random.uniform(0, 4000), flux: random.uniform(800, 9000)))
            }
        }
        let tracks = linker([0, 1, 2]).tracks(epochs)
        let isTrue = tracks.map { track in Set(track.points.map(\.index)).count == 1 && track.points[0].index < 40 }
        #expect(isTrue.count { $0 } >= 39)
        #expect(isTrue.count { !$0 } == 0)
        let turned = linker([0, 1, 2]).tracks(epochs.map { $0.reversed() })
        #expect(turned.map(\.rateX) == tracks.map(\.rateX))
    }

    @Test func `any number of detections ends in bounded time`() {
        var random = RandomStream(seed: 4, purpose: 9)
        let epochs = (0..<3).map { _ in
            (0..<20_000).map { _ in detection(random.uniform(0, 300), random.uniform(0, 300)) }
        }
        #expect(linker([0, 1, 2]).tracks(epochs).count <= 3000)
    }

    @Test func `positions and times that are not numbers are left out`() {
        let epochs = [[detection(.nan, 1)], [detection(.infinity, 1)], [detection(1e300, -1e300)]]
        #expect(linker([0, 1, 2]).tracks(epochs).isEmpty)
        #expect(linker([0, 0, 0]).tracks([[detection(1, 1)], [detection(9, 9)], [detection(20, 20)]]).isEmpty)
        #expect(linker([0, .nan, 2]).tracks([[detection(1, 1)], [detection(9, 9)], [detection(20, 20)]]).isEmpty)
    }
}
