import ArgumentParser
import Base
import Sky
import SkyCore
import Transport

/// The background above which fluxes are measured (`BACKPHOTO_TYPE`).
enum BackgroundKind: String, CaseIterable {
    case global, local
}

/// The name of a filter that needs no number, or of a file with its weights.
struct FilterArgument: ExpressibleByArgument {
    private let name: String

    private static let filters = [DetectionFilter.none, .pyramid, .seeing]
    private static let ending = ".conv"

    init?(argument: String) {
        guard FilterArgument.filters.contains(where: { $0.name == argument }) || argument.hasSuffix(Self.ending) else {
            return nil
        }
        name = argument
    }

    /// The file that is read; `nil` for none.
    var file: String? { FilterArgument.filters.contains { $0.name == name } ? nil : name }

    /// - Throws: `SkyError` or `CommandFailure` where a file cannot be read, or has no weights in it.
    func filter(readsFiles: Bool) throws -> DetectionFilter {
        if let filter = FilterArgument.filters.first(where: { $0.name == name }) { return filter }
        guard readsFiles else { throw CommandFailure(.usage, "--filter: files cannot be named here") }
        let bytes = try OptionFile.contents(of: name, limit: ConvolutionKernel.fileLimit)
        do {
            return .kernel(try ConvolutionKernel(file: bytes))
        } catch {
            throw CommandFailure(.usage, "\(PrintableText.of(name)): \(error.message)")
        }
    }

    static var allValueStrings: [String] { filters.map(\.name) }
    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

/// A number, or `off`.
struct CleanArgument: ExpressibleByArgument {
    let parameter: Double?

    init?(argument: String) {
        guard argument == "off" || Double(argument) != nil else { return nil }
        parameter = Double(argument)
    }

    static var defaultCompletionKind: CompletionKind { .list(["off"]) }
}

/// Numbers with commas in between.
struct AperturesArgument: ExpressibleByArgument {
    let diameters: [Double]

    init?(argument: String) {
        let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        diameters = numbers.compactMap(\.self)
        guard diameters.count == numbers.count else { return nil }
    }
}

/// A number of pixels, or `full`.
struct SectorSizeArgument: ExpressibleByArgument {
    let size: Int?

    init?(argument: String) {
        guard argument == "full" || Int(argument) != nil else { return nil }
        size = Int(argument)
    }

    static var defaultCompletionKind: CompletionKind { .list(["full"]) }
}
