import ArgumentParser
import Sky

/// Names of formats, separated by commas.
struct FormatsArgument: ExpressibleByArgument {
    let formats: [CatalogueFormat]

    static let names = CatalogueFormat.allCases.map(\.rawValue).joined(separator: ", ")

    init?(argument: String) {
        let names = argument.split(separator: ",", omittingEmptySubsequences: false)
        var formats: [CatalogueFormat] = []
        for name in names {
            guard let format = CatalogueFormat(rawValue: String(name)) else { return nil }
            if !formats.contains(format) { formats.append(format) }
        }
        self.formats = formats
    }
}
