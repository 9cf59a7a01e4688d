import CoreMetrics
import NIOConcurrencyHelpers

/// What the parts of a node count through swift-metrics, kept until somebody asks for it.
final class MetricsRegistry: MetricsFactory, Sendable {
    /// A thing that is counted, of one label and its dimensions.
    struct Series: Hashable, Sendable {
        var name: String
        var dimensions: [String: String]
    }

    /// What is known of a series.
    enum Value: Hashable, Sendable {
        case counter(Int64)
        case gauge(Double)
        /// How many values, and their sum.
        case summary(count: Int64, sum: Double)
    }

    private let handles = NIOLockedValueBox<[Series: Handle]>([:])

    /// All series with their values now.
    var all: [Series: Value] { handles.withLockedValue { $0.compactMapValues(\.value) } }

    /// A handle holds its own value: a value that is counted with every message must not be looked up.
    private final class Handle: CounterHandler, RecorderHandler, TimerHandler, Sendable {
        private let isGauge: Bool
        private let box = NIOLockedValueBox<Value?>(nil)

        init(isGauge: Bool) { self.isGauge = isGauge }

        /// `nil` before the first value.
        var value: Value? { box.withLockedValue { $0 } }

        func increment(by amount: Int64) {
            box.withLockedValue { value in
                guard case .counter(let count) = value else { return value = .counter(amount) }
                value = .counter(count &+ amount)
            }
        }

        func reset() { box.withLockedValue { $0 = .counter(0) } }

        func record(_ value: Int64) { record(Double(value)) }

        func record(_ new: Double) {
            guard new.isFinite else { return }
            box.withLockedValue { [isGauge] value in
                if isGauge { return value = .gauge(new) }
                guard case .summary(let count, let sum) = value else { return value = .summary(count: 1, sum: new) }
                value = .summary(count: count &+ 1, sum: sum + new)
            }
        }

        func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    }

    /// The handle of a series. Those who ask twice for one series get the same handle.
    private func handle(_ series: Series, isGauge: Bool = false) -> Handle {
        handles.withLockedValue { handles in
            if let known = handles[series] { return known }
            let new = Handle(isGauge: isGauge)
            handles[series] = new
            return new
        }
    }

    private func series(_ label: String, _ dimensions: [(String, String)], suffix: String = "") -> Series {
        Series(name: "skynode_" + label + suffix, dimensions: Dictionary(dimensions) { one, _ in one })
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let handle = handle(series(label, dimensions))
        // Events that never happened are reported as 0.
        handle.increment(by: 0)
        return handle
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        handle(series(label, dimensions), isGauge: !aggregate)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        handle(series(label, dimensions, suffix: "_seconds"))
    }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
