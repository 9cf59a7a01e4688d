import Base
import Sky
import SkyCore
import Transport

/// What a person might not expect about the part of an image that was scanned, in lines for people.
struct LayerLines {
    let lines: [String]
    /// The lines about damaged parts of the file. The scan fails because of them.
    let damage: [String]
    private let path: String

    init(item: ScanItem, info: ImageInfo) {
        var lines: [String] = []
        var damage: [String] = []
        // These lines come once for all colours and planes of a file.
        let isFirst = item.plane ?? 1 == 1 && item.layer?.bayer?.colour ?? .red == .red
        if isFirst {
            let names = info.auxiliaries ?? []
            let leftOut = names.filter { !FITSImage.saysDamaged($0) }.map { PrintableText.of($0) }
            if !leftOut.isEmpty {
                lines.append("\(leftOut.joined(separator: ", ")) left out; --hdu scans one all the same")
            }
            damage = names.filter(FITSImage.saysDamaged).map {
                "\(PrintableText.of($0)) cannot be scanned; copy the file again"
            }
            lines += damage
        }
        if let cube = info.cube, item.layer?.plane == nil {
            lines.append(
                cube.isColourImage
                    ? "a colour image: each of its three planes has a catalogue of its own; --plane scans one"
                    : "a cube of \(cube.planes) planes: the first is scanned; --plane names another")
        }
        if item.layer?.bayer == nil, let pattern = BayerPattern(header: info.header ?? []) {
            lines.append(
                "its header says that its pixels have filters in the order \(pattern.rawValue): --bayer \(pattern.rawValue) "
                    + "scans each colour on its own")
        }
        if let scale = info.layer?.scale {
            var means: [String] = []
            if scale.offset != 0 { means.append("less \(scale.offset)") }
            if scale.exponent != 0 { means.append("in units of 2^\(scale.exponent)") }
            lines.append(
                "its values are more than 32-bit floats hold: it was scanned \(means.joined(separator: " and ")); the catalogue is "
                    + "in the image's own units")
        }
        if let own = info.ownCompanions {
            let names = own.images.map { "HDU \($0.hdu) as \($0.use)" }
            lines.append("\(names.joined(separator: ", ")), as --mask auto says")
        } else if item.companions?.takesOwn == true {
            lines.append("--mask auto: the file has neither a mask nor weights for it")
        }
        (self.lines, self.damage, path) = (lines, damage, item.path)
    }

    /// Those that are shown where so much detail is, each with the file.
    func shown(at detail: ScanDetail) -> [String] {
        (detail > .errors ? lines : damage).map { "\(PrintableText.of(path)): \($0)" }
    }
}
