import Base

extension SkyEngine {
    /// Does a piece of work.
    package func perform(_ work: SkyWork) throws(SkyError) -> SkyResult {
        switch work {
        case .inspect(let image, let withContent):
            .inspected(
                try inspect(
                    path: image.path, hdu: image.hdu, layer: image.layer, companions: image.companions,
                    detection: image.detection?.image, withContent: withContent ?? false, expected: image.contents))
        case .background(let image, let sector, let configuration):
            .background(try background(in: image, sector: sector, configuration: configuration))
        case .seeing(let image, let sector, let background, let configuration):
            .seeing(try seeing(in: image, sector: sector, background: background, configuration: configuration))
        case .extract(let image, let sector, let background, let configuration):
            .extracted(try extract(in: image, sector: sector, background: background, configuration: configuration))
        case .join(let image, let union, let background, let configuration):
            .joined(try join(in: image, union: union, background: background, configuration: configuration))
        case .preview(let image, let maximumSide, let encodes):
            .preview(
                try preview(
                    path: image.path, hdu: image.hdu, layer: image.layer, maximumSide: maximumSide,
                    encodes: encodes ?? false))
        }
    }
}
