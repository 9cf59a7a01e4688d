package import Sky

extension FileContent {
    /// The content of no real file, for tests that say what a file holds.
    package static let unknown = FileContent(digest: [UInt8](repeating: 0, count: 32), size: 0, modified: 0)
}
