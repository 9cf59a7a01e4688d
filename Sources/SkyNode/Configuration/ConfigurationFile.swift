import Base
import Foundation
import Transport
import Yams

/// A configuration file, checked for unknown keys and for values of the wrong kind. Each fault has its line.
struct ConfigurationFile {
    /// A fault in the file.
    struct Fault: Hashable {
        var line: Int
        var text: String
    }

    let path: String
    /// The line of each key that has a value of the right kind, counted from 1.
    private(set) var lines: [String: Int] = [:]
    /// What each of these keys is set to: one text of a value, any number of a list, `true` or `false` of a flag.
    private(set) var values: [String: [String]] = [:]
    private(set) var faults: [Fault] = []

    /// Largest size in bytes. Nobody writes a larger configuration file.
    static let sizeLimit = 1 << 20

    /// - Throws: `CommandFailure` where the file cannot be read.
    init(path: String) throws {
        let shown = PrintableText.of(path)
        // Without O_NONBLOCK, the opening of a FIFO waits for a writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw CommandFailure(.usage, "\(shown): cannot be read: \(String(cString: strerror(errno)))")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        defer { try? handle.close() }
        var status = stat()
        guard fstat(handle.fileDescriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw CommandFailure(.usage, "\(shown): not a file")
        }
        guard status.st_size <= ConfigurationFile.sizeLimit, let data = try? handle.readToEnd() ?? Data() else {
            throw CommandFailure(.usage, "\(shown): too large for a configuration file")
        }
        self.init(path: path, text: String(decoding: data, as: UTF8.self))
    }

    init(path: String, text: String) {
        self.path = path
        do {
            guard let root = try Yams.compose(yaml: text) else { return }
            check(root)
        } catch {
            faults = [ConfigurationFile.fault(error)]
        }
        faults.sort { $0.line < $1.line }
    }

    /// One line for each fault.
    var complaints: [String] {
        faults.map { "\(PrintableText.of(path)):\($0.line): \(PrintableText.of($0.text))" }
    }

    private mutating func check(_ root: Node) {
        guard case .mapping(let mapping) = root else {
            // An empty file is an empty scalar.
            if case .scalar(let scalar) = root, scalar.string.isEmpty { return }
            faults.append(Fault(line: root.mark?.line ?? 1, text: "not lines of `key: value`"))
            return
        }
        for (name, value) in mapping {
            let line = name.mark?.line ?? 1
            guard let name = name.scalar?.string else {
                faults.append(Fault(line: line, text: "a key is a word"))
                continue
            }
            guard let key = ServeKeys.named(name) else {
                let advice = ServeKeys.nearest(to: name).map { "did you mean `\($0.name)`?" }
                faults.append(
                    Fault(
                        line: line,
                        text:
                            "there is no key `\(name.prefix(80))`; \(advice ?? "skynode serve --list-keys tells them all")"
                    ))
                continue
            }
            if let wrong = ConfigurationFile.problem(key, value) {
                faults.append(Fault(line: value.mark?.line ?? line, text: "`\(name)` \(wrong)"))
            } else {
                lines[name] = line
                values[name] = ConfigurationFile.texts(key, value)
            }
        }
    }

    private static func problem(_ key: ConfigurationKey, _ value: Node) -> String? {
        switch (key.kind, value) {
        case (.list, .sequence(let items)):
            return items.allSatisfy { $0.scalar?.string.isEmpty == false } ? nil : "takes a list of \(key.unit)"
        case (.list, _):
            return "takes a list: `\(key.name): [ONE, ANOTHER]`"
        case (.flag, .scalar(let scalar)):
            return Bool.construct(from: scalar) == nil ? "takes true or false" : nil
        case (.value, .scalar(let scalar)):
            return scalar.string.isEmpty ? "has no value" : nil
        case (.flag, _), (.value, _):
            return "takes one value: \(key.unit)"
        }
    }

    /// - Parameter value: one without a problem.
    private static func texts(_ key: ConfigurationKey, _ value: Node) -> [String] {
        switch (key.kind, value) {
        case (.flag, .scalar(let scalar)): [Bool.construct(from: scalar) == true ? "true" : "false"]
        case (_, .scalar(let scalar)): [scalar.string]
        case (_, .sequence(let items)): items.compactMap { $0.scalar?.string }
        default: []
        }
    }

    private static func fault(_ error: any Error) -> Fault {
        guard let error = error as? YamlError else { return Fault(line: 1, text: "not YAML: \(error)") }
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return Fault(line: mark.line, text: "not YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            let names = duplicates.map(String.init(describing:)).joined(separator: ", ")
            return Fault(line: context.mark.line, text: "twice there: \(names)")
        default:
            return Fault(line: 1, text: "not YAML")
        }
    }
}
