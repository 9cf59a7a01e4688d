import Testing

@testable import Sky

@Suite struct SkySynthesisTests {
    private func small() -> SkySynthesis {
        var recipe = SkySynthesis()
        recipe.width = 160
        recipe.height = 128
        recipe.seed = 42
        return recipe
    }

    @Test func `equal recipes give equal frames and another seed gives another`() {
        let first = small().render()
        let second = small().render()
        var other = small()
        other.seed = 43
        #expect(first.pixels == second.pixels)
        #expect(first.truth == second.truth)
        #expect(first.pixels != other.render().pixels)
    }

    @Test func `the default density is 5000 stars and 600 galaxies for every 2048 squared pixels`() {
        var recipe = SkySynthesis()
        #expect(recipe.starCount == 5000)
        #expect(recipe.galaxyCount == 600)
        recipe.width = 4096
        #expect(recipe.starCount == 10_000)
        #expect(small().render().truth.count == small().starCount + small().galaxyCount)
    }

    @Test func `more galaxies leave the stars where they are`() {
        var more = small()
        more.galaxies = 50
        let stars = more.starCount
        #expect(Array(small().render().truth.prefix(stars)) == Array(more.render().truth.prefix(stars)))
    }

    @Test func `an empty frame has the sky's level and noise`() {
        var recipe = small()
        recipe.stars = 0
        recipe.galaxies = 0
        recipe.gradient = 0
        let values = recipe.render().pixels.map { Double($0) }
        let mean = values.reduce(0, +) / Double(values.count)
        let variance = values.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(values.count - 1)
        #expect(abs(mean - 800) < 0.8)
        #expect(abs(variance / recipe.skyVariance - 1) < 0.05)
    }

    @Test func `the sky rises along the gradient`() {
        var recipe = small()
        recipe.stars = 0
        recipe.galaxies = 0
        recipe.gradient = 0.5
        let frame = recipe.render()
        let rows = frame.height
        func mean(_ columns: Range<Int>) -> Float {
            var sum: Float = 0
            for row in 0..<rows { for column in columns { sum += frame.pixels[row * frame.width + column] } }
            return sum / Float(rows * columns.count)
        }
        // 800 * 0.5 * 0.7 from edge to edge.
        #expect(abs(mean(140..<160) - mean(0..<20) - 245) < 15)
    }

    @Test func `a bright star saturates, and no pixel exceeds the saturation level`() {
        var recipe = small()
        recipe.stars = 30
        recipe.brightest = 8
        recipe.faintest = 12
        recipe.saturation = 20_000
        let frame = recipe.render()
        #expect(frame.pixels.max() == 20_000)
        #expect(frame.pixels.count { $0 == 20_000 } > 30)
    }

    @Test func `the light of the sources is in the frame`() {
        var recipe = small()
        recipe.width = 400
        recipe.height = 400
        recipe.stars = 1
        recipe.galaxies = 0
        recipe.sky = 0
        recipe.gradient = 0
        recipe.readNoise = 0
        recipe.saturation = 0
        // Without sky the noise is the star's own: the sum holds its flux to the square root of it.
        for seed in 1...20 {
            recipe.seed = UInt64(seed)
            let frame = recipe.render()
            let star = frame.truth[0]
            guard 100...300 ~= star.x, 100...300 ~= star.y else { continue }
            let sum = frame.pixels.reduce(0.0) { $0 + Double($1) }
            #expect(abs(sum / star.flux - 1) < 0.03 + 5 / star.flux.squareRoot(), "seed \(seed)")
        }
    }

    @Test func `an impossible frame is refused in one line`() {
        func message(_ change: (inout SkySynthesis) -> Void) -> String {
            var recipe = SkySynthesis()
            change(&recipe)
            do {
                try recipe.validate()
                return ""
            } catch {
                #expect(error.kind == .badInput)
                return error.message
            }
        }
        #expect(message { _ in } == "")
        #expect(message { $0.width = 0 } == "the width must be 16 to 100000 pixels, not 0")
        #expect(message { $0.height = .min }.contains("height"))
        #expect(message { $0.width = .max }.contains("width"))
        #expect(
            message {
                $0.width = 100_000; $0.height = 100_000
            }.contains("too large"))
        #expect(message { $0.stars = -1 } == "the number of stars must be 0 to 5000000, not -1")
        #expect(message { $0.galaxies = .max }.contains("galaxies"))
        #expect(message { $0.fwhm = .nan }.contains("FWHM"))
        #expect(message { $0.gain = 0 }.contains("gain"))
        #expect(message { $0.exposure = -.infinity }.contains("exposure"))
        #expect(message { $0.faintest = 14 }.contains("faintest"))
        #expect(message { $0.brightest = -20 }.contains("1e12 ADU"))
        #expect(message { $0.saturation = 700 }.contains("above the sky"))
        #expect(message { $0.pixelScale = 300 }.contains("60 degrees"))
        #expect(message { $0.declination = 91 }.contains("declination"))
    }

    @Test func `impossible blemishes and epochs are refused in one line`() {
        func message(_ change: (inout SkySynthesis) -> Void) -> String {
            var recipe = SkySynthesis()
            recipe.epochs = 3
            change(&recipe)
            do {
                try recipe.validate()
                return ""
            } catch {
                #expect(error.kind == .badInput)
                return error.message
            }
        }
        #expect(message { _ in } == "")
        #expect(message { $0.cosmicRays = -1 } == "the number of cosmic rays must be 0 to 1000000, not -1")
        #expect(message { $0.trails = .max }.contains("trails"))
        #expect(message { $0.trailBrightness = .nan }.contains("brightness of trails"))
        #expect(message { $0.bitpix = 24 } == "the BITPIX must be 8, 16, 32, 64, -32 or -64, not 24")
        #expect(
            message {
                ($0.bitpix, $0.sky, $0.saturation) = (16, 70_000, 0)
            } == "a sky of 70000 ADU does not fit BITPIX 16, which ends at 65535")
        #expect(message { $0.epochs = 0 } == "the number of epochs must be 1 to 1000, not 0")
        #expect(message { $0.epochs = .min }.contains("epochs"))
        #expect(message { $0.dither = 2000 } == "the dither must be 0 to 1024 pixels, half the smaller side, not 2000")
        #expect(message { $0.dither = .infinity }.contains("dither"))
        #expect(message { $0.interval = 0 }.contains("interval"))
        #expect(
            message { $0.interval = 30 }
                == "the interval between epochs, 30 seconds, must not be shorter than the exposure, 60 seconds")
        #expect(message { $0.transients = -1 }.contains("transients"))
        #expect(message { $0.movers = .max }.contains("movers"))
        #expect(message { $0.variables = 5001 } == "the number of variable stars must be 0 to 5000, not 5001")
        #expect(message { $0.slowest = .nan }.contains("slowest"))
        #expect(
            message { $0.fastest = 1 }
                == "the fastest rate of movers must be 6 to 100000 seconds of arc per hour, not 1")
        #expect(
            message {
                ($0.epochs, $0.movers) = (1, 1)
            } == "movers need at least 2 epochs")
    }
}
