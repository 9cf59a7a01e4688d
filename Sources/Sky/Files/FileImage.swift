/// One image of a FITS file, as its header describes it.
package struct FileImage: Hashable, Sendable {
    package var hdu: Int
    /// `EXTNAME`; empty without one.
    package var name = ""
    /// `EXTVER`, which is the same for images that belong together; `nil` without one.
    package var version: Int?
    /// Sizes of its axes.
    var sizes: [Int]
    /// Whether its values are integers.
    package var isWhole = false
    /// Whether its own header names its axes, as a header with coordinates does.
    var hasAxes = false
    /// The role that its header gives it; `nil` if the header names none.
    var declared: ImageRole?

    /// Whether it has only one plane.
    var isFlat: Bool { sizes.dropFirst(2).allSatisfy { $0 == 1 } }

    /// A description of an image that is left out.
    package func words(_ role: ImageRole) -> String {
        let what =
            role != .sky
            ? name.isEmpty ? role.words : name
            : "an array of " + sizes.map { "\($0)" }.joined(separator: " x ")
        return "HDU \(hdu) (\(what))"
    }
}

/// The images of a file: which are of the sky, and which belong to those.
package struct FileImages: Sendable {
    package let all: [FileImage]
    let roles: [ImageRole]

    /// - Parameters:
    ///   - fileRole: The role that the file's name or its primary header gives to all images. An image's own header counts
    ///     more.
    init(_ all: [FileImage], fileRole: ImageRole? = nil) {
        self.all = all
        var roles = all.map { $0.declared ?? fileRole ?? .sky }
        for index in all.indices where all[index].declared == nil && fileRole == nil && index > 0 {
            // An image without a name belongs to the one before it if it has the same size, and if it alone lacks coordinates
            // or it alone has integers.
            guard all[index].name.isEmpty,
                let image = (0..<index).last(where: { roles[$0] == .sky }), all[image].sizes == all[index].sizes
            else { continue }
            let lacksAxes = all[image].hasAxes && !all[index].hasAxes
            guard lacksAxes || (all[index].isWhole && !all[image].isWhole) else { continue }
            roles[index] = all[index].isWhole && !all[image].isWhole ? .mask : .other
        }
        self.roles = roles
        nameTriples()
    }

    /// Two nameless images behind an image of the sky are its mask and its variance. LSST, and pipelines that follow it, write
    /// them in this order.
    private mutating func nameTriples() {
        let nameless = all.indices.map { all[$0].name.isEmpty && all[$0].declared == nil }
        var roles = roles
        for index in all.indices where roles[index] == .sky {
            let run = all.indices[(index + 1)...].prefix { nameless[$0] && roles[$0] != .sky }
            guard run.count == 2, let first = run.first, let last = run.last else { continue }
            (roles[first], roles[last]) = (.mask, .noise(.variance))
        }
        self = FileImages(all: all, roles: roles)
    }

    private init(all: [FileImage], roles: [ImageRole]) { (self.all, self.roles) = (all, roles) }

    /// The images that are scanned if the user names no HDU: images of one plane, or else cubes.
    ///
    /// - Parameter prefersCubes: Whether the user asks for a plane that images of one plane do not have.
    package func scanned(prefersCubes: Bool) -> [FileImage] {
        let sky = zip(all, roles).filter { $0.1 == .sky }.map(\.0)
        let wanted = sky.filter { $0.isFlat != prefersCubes }
        return wanted.isEmpty ? sky : wanted
    }

    /// The images that are not scanned, in words.
    func leftOut(prefersCubes: Bool) -> [String] {
        let scanned = Set(scanned(prefersCubes: prefersCubes))
        return zip(all, roles).filter { !scanned.contains($0.0) }.map { $0.words($1) }
    }

    /// The companion with a role that belongs to the image of HDU `hdu`. It lies behind the image and before the next one, or
    /// has the image's version; if the file has only one image, it may be anywhere.
    func companion(of hdu: Int, _ isWanted: (ImageRole) -> Bool) -> (image: FileImage, role: ImageRole)? {
        guard let place = all.firstIndex(where: { $0.hdu == hdu }) else { return nil }
        let image = all[place]
        let fitting = all.indices.filter { index in
            index != place && isWanted(roles[index])
                && (all[index].sizes == image.sizes
                    || (all[index].isFlat && all[index].sizes.prefix(2) == image.sizes.prefix(2)))
        }
        let next = all.indices.first { $0 > place && roles[$0] == .sky } ?? all.endIndex
        let isAlone = roles.filter { $0 == .sky }.count <= 1
        let chosen =
            fitting.first { image.version != nil && all[$0].version == image.version && $0 > place }
            ?? fitting.first { (place..<next).contains($0) }
            ?? fitting.first { image.version != nil && all[$0].version == image.version }
            ?? (isAlone ? fitting.first : nil)
        return chosen.map { (all[$0], roles[$0]) }
    }
}
