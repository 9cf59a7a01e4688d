import Distributed
import Logging
import MetricsTestKit
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import Transport

/// What an operator can see.
@Suite(.timeLimit(.minutes(5))) struct ObservabilityTests {
    @Test func `calls, errors, bytes and round trips are counted on both sides`() async throws {
        let metrics = [TestMetrics(), TestMetrics()]
        let settings = zip(["server", "client"], metrics).map { name, metrics in
            var settings = TestCluster.settings(name)
            settings.metrics = metrics
            return settings
        }
        try await TestCluster.run(settings) { systems in
            try await systems[1].join(try #require(systems[0].listeningAddress))
            let (local, remote) = try Ledger.pair(systems[0], systems[1])
            for number in 0..<5 { try await remote.note(number, ByteBuffer(repeating: 0, count: 1000)) }
            _ = try? await remote.expose(1)
            withExtendedLifetime(local) {}
        }
        func total(_ side: Int, _ label: String, _ direction: String) throws -> Int64 {
            try metrics[side].expectCounter(label, [("direction", direction)]).totalValue
        }
        #expect(try total(1, "transport_calls_total", "out") == 6)
        #expect(try total(0, "transport_calls_total", "in") == 6)
        #expect(try total(1, "transport_call_errors_total", "out") == 1)
        #expect(try total(0, "transport_call_errors_total", "in") == 1)
        #expect(try total(1, "transport_bytes_total", "out") > 5000)
        #expect(try total(0, "transport_bytes_total", "in") > 5000)
        #expect(try metrics[1].expectTimer("transport_call_duration").values.count == 6)
        #expect(try metrics[1].expectTimer("transport_round_trip").values.count >= 1)
        #expect(try metrics[1].expectGauge("transport_links").lastValue == 0)
    }

    @Test func `the trace of a call is in the log lines of both sides`() async throws {
        let lines = NIOLockedValueBox<[String]>([])
        let settings = ["server", "client"].map { name in
            var settings = TestCluster.settings(name)
            settings.logger = Logger(label: name) { label in LineKeeper(label: label, lines: lines) }
            settings.logger.logLevel = .trace
            return settings
        }
        try await TestCluster.run(settings) { systems in
            try await systems[1].join(try #require(systems[0].listeningAddress))
            let (local, remote) = try Ledger.pair(systems[0], systems[1])
            _ = try await CallTrace.withValue(0xABC) { try await remote.numbers() }
            withExtendedLifetime(local) {}
        }
        let traced = lines.withLockedValue { $0 }.filter { $0.contains("trace=0000000000000abc") }
        #expect(traced.contains { $0.hasPrefix("client") })
        #expect(traced.contains { $0.hasPrefix("server") })
    }

    @Test func `nothing is logged at info or above when all is well`() async throws {
        let lines = NIOLockedValueBox<[String]>([])
        let settings = ["server", "client"].map { name in
            var settings = TestCluster.settings(name)
            settings.logger = Logger(label: name) { label in LineKeeper(label: label, lines: lines) }
            settings.logger.logLevel = .info
            return settings
        }
        try await TestCluster.run(settings) { systems in
            try await systems[1].join(try #require(systems[0].listeningAddress))
            let (local, remote) = try Ledger.pair(systems[0], systems[1])
            for number in 0..<100 { try await remote.note(number, ByteBuffer()) }
            withExtendedLifetime(local) {}
        }
        #expect(lines.withLockedValue { $0 } == [])
    }

    @Test func `a node with its own address among its seeds logs nothing about it`() async throws {
        let lines = NIOLockedValueBox<[String]>([])
        var own = TestCluster.settings("own")
        own.listen = TestCluster.loopbackAddress()
        own.join = [try #require(own.listen)]
        own.logger = Logger(label: "own") { label in LineKeeper(label: label, lines: lines) }
        own.logger.logLevel = .notice
        let metrics = TestMetrics()
        own.metrics = metrics
        try await TestCluster.run([own]) { systems in
            // Both ends of a node's handshake with itself fail.
            let failures = try metrics.expectCounter("transport_handshake_failures_total")
            while failures.totalValue < 2 { await Task.yield() }
        }
        #expect(lines.withLockedValue { $0 } == [])
    }
}

/// Keeps lines as text, with the metadata of the provider.
struct LineKeeper: LogHandler {
    let label: String
    let lines: NIOLockedValueBox<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace
    var metadataProvider: Logger.MetadataProvider?

    init(label: String, lines: NIOLockedValueBox<[String]>) {
        self.label = label
        self.lines = lines
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let metadata = metadataProvider?.get() ?? [:]
        let shown = metadata.map { " \($0.key)=\($0.value)" }.joined()
        lines.withLockedValue { $0.append("\(label): \(event.message)\(shown)") }
    }
}
