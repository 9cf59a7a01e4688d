import NIOConcurrencyHelpers
import NIOPosix
import Sky
import Transport

/// Reads what a file holds, beside its scan and perhaps before anybody asks for it.
final class ContentReading: Sendable {
    private enum State {
        case idle
        case reading
        case done(FileContent?)
    }

    private let path: String
    private let state = NIOLockedValueBox(State.idle)
    private let isDone = Latch()

    init(of path: String) { self.path = path }

    /// Reads the file, for those who ask for its content later.
    func begin() async {
        let isFirst = state.withLockedValue { state in
            guard case .idle = state else { return false }
            state = .reading
            return true
        }
        guard isFirst else { return }
        let content = await ContentReading.content(of: path)
        state.withLockedValue { $0 = .done(content) }
        isDone.open()
    }

    /// What the file holds; `nil` if it cannot be read, or if the task is cancelled.
    func content() async -> FileContent? {
        await begin()
        await isDone.wait()
        if case .done(let content?) = state.withLockedValue({ $0 }) { return content }
        // The one who read it may have been cancelled.
        return await ContentReading.content(of: path)
    }

    /// What a file holds; `nil` if it cannot be read, or if the task is cancelled.
    static func content(of path: String) async -> FileContent? {
        let isCancelled = NIOLockedValueBox(false)
        return await withTaskCancellationHandler {
            try? await NIOThreadPool.singleton.runIfActive {
                try FileContent(of: path) { isCancelled.withLockedValue { $0 } }
            }
        } onCancel: {
            isCancelled.withLockedValue { $0 = true }
        }
    }
}
