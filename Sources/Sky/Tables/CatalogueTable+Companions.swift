extension Companions {
    /// The files in the form in which a catalogue names them.
    package func files(_ info: ImageInfo) -> [CatalogueTable.CompanionFile] {
        var files: [CatalogueTable.CompanionFile] = []
        if let noise {
            let keyword = kind.rawValue.uppercased()
            files.append(.init(keyword: keyword, path: noise.path, digest: info.noiseContent?.hexadecimal))
        }
        if let mask { files.append(.init(keyword: "MASK", path: mask.path, digest: info.maskContent?.hexadecimal)) }
        return files
    }
}

extension DetectionImage {
    /// The file in the form in which a catalogue names it.
    package func file(_ info: ImageInfo) -> CatalogueTable.CompanionFile {
        CatalogueTable.CompanionFile(
            keyword: CatalogueTable.CompanionFile.detection, path: image.path,
            digest: info.detection?.content?.hexadecimal)
    }
}
