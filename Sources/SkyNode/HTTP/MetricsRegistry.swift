import CoreMetrics
import NIOConcurrencyHelpers

/// What the parts of a node count through swift-metrics, kept until somebody asks for it.
final class MetricsRegistry: MetricsFactory, Sendable {
    /// A thing that is counted, of one label and its dimensions.
    struct Series: Hashable, Sendable {
        var name: String
        var dimensions: [String: String]
    }

    /// What is known of it.
    enum Value: Hashable, Sendable {
        case counter(Int64)
        case gauge(Double)
        /// How many values, and their sum.
        case summary(count: Int64, sum: Double)
    }

    private let values = NIOLockedValueBox<[Series: Value]>([:])

    /// All of it now.
    var all: [Series: Value] { values.withLockedValue { $0 } }

    private final class Handle: CounterHandler, RecorderHandler, TimerHandler, Sendable {
        private let series: Series
        private let registry: MetricsRegistry
        private let isGauge: Bool

        init(_ series: Series, _ registry: MetricsRegistry, isGauge: Bool = false) {
            (self.series, self.registry, self.isGauge) = (series, registry, isGauge)
        }

        func increment(by amount: Int64) {
            registry.change(series) { value in
                guard case .counter(let count) = value else { return .counter(amount) }
                return .counter(count &+ amount)
            }
        }

        func reset() { registry.change(series) { _ in .counter(0) } }

        func record(_ value: Int64) { record(Double(value)) }

        func record(_ value: Double) {
            guard value.isFinite else { return }
            registry.change(series) { [isGauge] known in
                if isGauge { return .gauge(value) }
                guard case .summary(let count, let sum) = known else { return .summary(count: 1, sum: value) }
                return .summary(count: count &+ 1, sum: sum + value)
            }
        }

        func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    }

    private func change(_ series: Series, _ body: (Value?) -> Value) {
        values.withLockedValue { $0[series] = body($0[series]) }
    }

    private func series(_ label: String, _ dimensions: [(String, String)], suffix: String = "") -> Series {
        Series(name: "skynode_" + label + suffix, dimensions: Dictionary(dimensions) { one, _ in one })
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let handle = Handle(series(label, dimensions), self)
        // Those that never happened are told as 0.
        handle.increment(by: 0)
        return handle
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        Handle(series(label, dimensions), self, isGauge: !aggregate)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        Handle(series(label, dimensions, suffix: "_seconds"), self)
    }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
