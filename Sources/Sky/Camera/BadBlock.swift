/// A rectangle of pixels without values, such as a dead amplifier or a masked ghost causes.
struct BadBlock {
    /// The area is the same in all epochs, because it belongs to the detector.
    let area: PixelRect

    init(_ recipe: SkySynthesis) {
        var random = RandomStream(seed: recipe.seed, .badBlock)
        let width = max(recipe.width / 8, 1)
        let height = max(recipe.height / 12, 1)
        area = PixelRect(
            x: random.index(recipe.width - width + 1), y: random.index(recipe.height - height + 1), width: width,
            height: height)
    }

    /// Removes the values of the pixels in the area.
    func apply(to canvas: inout PixelCanvas) {
        for row in area.y..<area.y + area.height {
            for column in area.x..<area.x + area.width {
                canvas.pixels[row * canvas.width + column] = .nan
            }
        }
    }

    /// The card that gives the area, as IRAF writes sections: both ends counted from 1 and included.
    var card: FITSCard {
        let section = "[\(area.x + 1):\(area.x + area.width),\(area.y + 1):\(area.y + area.height)]"
        return FITSCard("BADSEC", .text(section), "pixels without values")
    }
}
