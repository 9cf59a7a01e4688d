import Foundation
import Glibc

/// The `skynode` that was built beside these tests.
enum Skynode {
    static let path: String = {
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let places = [
            tests.deletingLastPathComponent().appendingPathComponent("skynode").path,
            package.appendingPathComponent(".build/debug/skynode").path,
        ]
        // Nodes without the option --data keep their jobs in this folder.
        let state = package.appendingPathComponent(".build/test-state")
        try? FileManager.default.removeItem(at: state)
        // Here only, before the first process is started: whoever starts one reads the environment meanwhile.
        setenv("STATE_DIRECTORY", state.path, 1)
        setenv("SKYNET_TEST_PASSWORD", password, 1)
        return places.first { access($0, X_OK) == 0 } ?? "skynode is not built"
    }()

    /// What all daemons have in their environment, where people put passwords.
    static let password = "hunter2"

    /// Whether everything runs under a sanitizer, some ten times as slow and without bounds of memory (`make tsan`).
    static let isSanitized = ProcessInfo.processInfo.environment["SKYNET_SANITIZED"] != nil

    /// A time limit that only finds what hangs: longer where everything is slow.
    static func minutes(_ usual: Int) -> Int { isSanitized ? 5 * usual : usual }

    /// Frames that may lie beside the package; tests that need them say when they skip.
    static let sharedSky: String = {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("shared/sky").path
    }()

    static func sharedFrame(_ name: String) -> String { sharedSky + "/" + name }

    /// Runs a command to its end.
    static func run(_ arguments: String...) async throws -> Ended {
        try await run(arguments)
    }

    static func run(_ arguments: [String]) async throws -> Ended {
        // A test whose time is over must not ask again and again.
        try Task.checkCancellation()
        let process = try RunningProcess(path, arguments)
        return await process.end()
    }

    /// Runs a line of the shell, with `skynode` in it as `"$0"`.
    static func shell(_ line: String) async throws -> Ended {
        try Task.checkCancellation()
        let process = try RunningProcess("/bin/sh", ["-c", line, path])
        return await process.end()
    }
}

/// What a command left.
struct Ended {
    /// Exit code, or minus the signal that killed it.
    var status: Int32
    var output: [String]
    var errors: [String]
}

/// A folder that is removed with its owner.
final class ScratchFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/skynet-cluster-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw CocoaError(.fileWriteUnknown) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func file(_ name: String) -> String { path + "/" + name }

    func contents(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: file(name))) }
}
