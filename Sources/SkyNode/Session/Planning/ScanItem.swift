import Sky
import SkyCore
import SkyJobs

/// One image of `skynode scan`, and where its results go.
struct ScanItem: Sendable {
    /// The name as the user wrote it, for messages.
    var name: String
    /// The resolved path.
    var path: String
    var request: JobRequest
    /// The token of the job, if the job may be submitted before its turn; `nil` otherwise.
    var token: String?
    /// The folder and the name of the results, without an ending.
    var stem: String
    /// The HDU of this image, if its file has several images; otherwise `nil`.
    var hdu: Int?
    /// The number of this plane, if it belongs to a colour image; otherwise `nil`.
    var plane: Int?
    /// Its place among the images of its file.
    var order: Int { (hdu ?? 0) * (ImageCube.colours + 1) + (plane ?? 0) }

    /// The layer of its HDU that this image is.
    var layer: ImageLayer? {
        if let request = request.kind.scan { request.image.layer } else { nil }
    }

    /// The image on which its sources are found; `nil` for itself.
    var detection: DetectionImage? {
        if let request = request.kind.scan { request.image.detection } else { nil }
    }

    /// Its weights and mask.
    var companions: Companions? {
        if let request = request.kind.scan { request.image.companions } else { nil }
    }

    /// This image with the request to compare it with a reference that has been scanned.
    func compared(with place: SkyCircle?) -> ScanItem {
        changed { $0.purpose?.reference = place }
    }

    /// Another image of the same file.
    func of(hdu: Int, besides stems: Set<String>) -> ScanItem {
        named(hdu: hdu, besides: stems).changed { request in
            request.image.hdu = hdu
            request.configuration.hdu = hdu
        }
    }

    /// Another plane of the same image.
    func of(plane: Int, besides stems: Set<String>) -> ScanItem {
        named(plane: plane, besides: stems).changed { request in
            var layer = request.image.layer ?? ImageLayer()
            layer.plane = plane
            request.image.layer = layer
        }
    }

    /// This image, named as one of several planes.
    func named(plane: Int, besides stems: Set<String>) -> ScanItem {
        var item = self
        item.plane = plane
        item.name += "[plane \(plane)]"
        repeat { item.stem += "-plane\(plane)" } while stems.contains(item.stem)
        return item
    }

    /// This image, named as one of several images.
    ///
    /// - Parameter stems: the stems of all files. The new stem must not be one of them, so that no file is overwritten.
    func named(hdu: Int, besides stems: Set<String>) -> ScanItem {
        var item = self
        item.hdu = hdu
        item.name += "[\(hdu)]"
        repeat { item.stem += "-hdu\(hdu)" } while stems.contains(item.stem)
        return item
    }

    /// This image with a changed request for its scan.
    private func changed(_ change: (inout SkyRequest) -> Void) -> ScanItem {
        guard var request = request.kind.scan else { return self }
        var item = self
        change(&request)
        item.request.kind = .sky(request)
        item.token = nil
        return item
    }
}
