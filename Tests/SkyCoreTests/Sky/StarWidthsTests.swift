import Testing

@testable import SkyCore

@Suite struct StarWidthsTests {
    private func widths(_ values: [Float]) -> StarWidths {
        StarWidths(
            merging: values.map {
                var part = StarWidths([])
                part.values = [$0]
                return part
            })
    }

    @Test func `the most frequent width counts, not the mean`() {
        let stars: [Float] = [3.0, 3.02, 2.98, 3.01, 3.0, 2.99]
        #expect(abs((widths(stars + [1.1, 9, 12, 7, 20]).seeing ?? 0) - 3) < 0.02)
        #expect(widths(stars).seeing == widths(stars.reversed()).seeing)
    }

    @Test func `too few stars give the usual filter`() {
        #expect(widths([3, 3, 3, 3]).seeing == nil)
        #expect(widths([3, 3, 3, 3]).filter == .pyramid)
        #expect(widths([]).filter == .pyramid)
    }

    @Test func `a width that no filter has becomes the nearest that one has`() {
        #expect(widths(Array(repeating: 40, count: 9)).filter == .gaussian(fwhm: 15))
        #expect(widths(Array(repeating: 0.1, count: 9)).filter == .gaussian(fwhm: 0.5))
    }

    @Test func `only what is bright, alone and round counts as a star`() {
        func source(_ change: (inout Source) -> Void = { _ in }) -> Source {
            var source = Source(x: 1, y: 1, sector: 0)
            (source.fwhm, source.a, source.b, source.fluxAuto, source.fluxErrorAuto) = (3, 1.3, 1.25, 1000, 10)
            change(&source)
            return source
        }
        #expect(StarWidths([source()]).values == [3])
        let others = [
            source { $0.flags = 2 }, source { $0.fwhm = 0 }, source { $0.b = 0.5 }, source { $0.fluxErrorAuto = 100 },
        ]
        #expect(StarWidths(others).values.isEmpty)
    }
}
