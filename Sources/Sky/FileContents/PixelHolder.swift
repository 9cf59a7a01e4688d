/// The node that read a file's header, and so can read the file. Only the program around this module knows what the mark means.
package struct PixelHolder: Hashable, Codable, Sendable {
    package var node: UInt64
    /// The name by which the node is found again after a restart.
    package var name: String

    package init(node: UInt64, name: String) { (self.node, self.name) = (node, name) }

    /// The largest number of bytes of a name.
    package static let nameLimit = 256
}
