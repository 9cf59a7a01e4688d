import ArgumentParser
import Sky

/// Names of check images, separated by commas.
struct CheckImagesArgument: ExpressibleByArgument {
    let images: [CheckImage]

    static let names = CheckImage.allCases.map(\.rawValue).joined(separator: ", ")

    init?(argument: String) {
        var images: [CheckImage] = []
        for name in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let image = CheckImage(rawValue: String(name)) else { return nil }
            if !images.contains(image) { images.append(image) }
        }
        self.images = images
    }
}
