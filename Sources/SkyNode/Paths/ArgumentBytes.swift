import Glibc

/// The arguments as the kernel handed them over. Bytes that are not UTF-8 are lost in `CommandLine.arguments`.
enum ArgumentBytes {
    /// The arguments that were read as `text` although they are not UTF-8, in a form for people. Empty where the text is exactly
    /// what was given.
    static func escaped(_ text: String) -> [String] {
        guard text.unicodeScalars.contains("\u{FFFD}") else { return [] }
        return (0..<Int(CommandLine.argc)).compactMap { index in
            guard let pointer = CommandLine.unsafeArgv[index] else { return nil }
            let name = FolderNames.Name(pointer)
            return !name.isText && name.text == text ? name.escaped : nil
        }
    }
}
