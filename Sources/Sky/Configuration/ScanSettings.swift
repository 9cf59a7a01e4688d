package import Base

/// The settings of a scan as they were written, by the names of their keys.
package struct ScanSettings: Sendable {
    /// Reads a file of so many bytes at most.
    package typealias FileReader = (_ path: String, _ limit: Int) throws(SkyError) -> [UInt8]

    /// What is written for each key.
    package let texts: [String: String]

    /// - Parameter texts: what is written for each key. Other names mean nothing.
    package init(_ texts: [String: String]) { self.texts = texts }

    /// The configuration that they come to.
    ///
    /// - Parameter read: reads the files that they name; `nil` where they may name none, because they come from somebody else.
    /// - Throws: `.badInput`, with one line that names the fault.
    package func configuration(reading read: FileReader?) throws(SkyError) -> ScanConfiguration {
        if has(ScanKeys.filter), has(ScanKeys.fwhm) {
            throw SkyError(.badInput, "give --filter or --fwhm, not both")
        }
        if has(ScanKeys.backgroundThickness), texts[ScanKeys.background.name] != "local" {
            throw SkyError(.badInput, "--background-thickness goes with --background local")
        }
        var configuration = ScanConfiguration()
        for key in ScanKeys.all where key.name != ScanKeys.columns.name { try set(key, in: &configuration, read) }
        try configuration.validate()
        // Which columns there are depends on the apertures.
        try set(ScanKeys.columns, in: &configuration, read)
        return configuration
    }

    private func has(_ key: ScanKey) -> Bool { texts[key.name] != nil }

    private func set(
        _ key: ScanKey, in configuration: inout ScanConfiguration, _ read: FileReader?
    ) throws(SkyError) {
        guard let text = texts[key.name] else { return }
        guard key.takes(text) else {
            throw SkyError(.badInput, "--\(key.name) \(PrintableText.of(text)): it must be \(key.formWords)")
        }
        try key.apply(ScanText(text: text, read: read), &configuration)
    }

    /// The files that they name.
    package var files: [String] {
        let filter = texts[ScanKeys.filter.name].flatMap { ScanKeys.filter.words.contains($0) ? nil : $0 }
        return [filter, texts[ScanKeys.columns.name].flatMap(ScanText.file)].compactMap { $0 }
    }
}

/// What is written for one setting.
struct ScanText {
    let text: String
    let read: ScanSettings.FileReader?

    static func numbers(_ text: String) -> [Double]? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Double($0) }
        return numbers.count == parts.count ? numbers : nil
    }

    /// The file in whose place `@FILE` stands; `nil` for other texts.
    static func file(_ text: String) -> String? { text.hasPrefix("@") ? String(text.dropFirst()) : nil }

    /// What a file says.
    ///
    /// - Parameter name: the key that names it.
    func parsed<Value>(
        _ path: String, of name: String, limit: Int, _ parse: ([UInt8]) throws(SkyError) -> Value
    ) throws(SkyError) -> Value {
        guard let read else { throw SkyError(.badInput, "--\(name): files cannot be named here") }
        let bytes = try read(path, limit)
        do {
            return try parse(bytes)
        } catch {
            throw SkyError(.badInput, "\(PrintableText.of(path)): \(error.message)")
        }
    }
}
