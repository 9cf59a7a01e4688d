import Glibc

/// Arguments as the kernel handed them over: what is no UTF-8 is lost in `CommandLine.arguments`.
enum ArgumentBytes {
    /// The arguments that were read as `text`, though they are not UTF-8, for a person; none where the text is what was
    /// given.
    static func escaped(_ text: String) -> [String] {
        guard text.unicodeScalars.contains("\u{FFFD}") else { return [] }
        return (0..<Int(CommandLine.argc)).compactMap { index in
            guard let pointer = CommandLine.unsafeArgv[index] else { return nil }
            let name = FolderNames.Name(pointer)
            return !name.isText && name.text == text ? name.escaped : nil
        }
    }
}
