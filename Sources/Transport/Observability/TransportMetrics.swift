import CoreMetrics
import Metrics

/// What the transport counts, through swift-metrics. Without a bootstrapped backend all of it does nothing.
///
/// Counters end in `_total`, timers are in nanoseconds. The names and dimensions are part of the interface.
final class TransportMetrics: Sendable {
    /// Calls made to peers, and calls of peers, whatever became of them.
    private let callsOut, callsIn: Counter
    /// Calls that ended with an error of any kind.
    private let errorsOut, errorsIn: Counter
    /// The time from making a call to its answer or error.
    private let callDuration: Timer
    /// Bytes given to and taken from connections, before encryption.
    private let bytesOut, bytesIn: Counter
    /// Bytes that wait to be written on a link, noted when the loop looks after the link.
    private let queueBytes: Recorder
    /// Round trip of pings.
    private let roundTrip: Timer
    /// Links up now.
    private let links: Gauge
    /// Handshakes that failed or were refused, in either direction.
    private let handshakeFailures: Counter
    /// Datagrams heard, by what became of them.
    private let beacons: [String: Counter]

    /// Whether there is a backend. To look at the clock for nobody takes as long as to count a call.
    private let isKept: Bool

    init(_ factory: any MetricsFactory) {
        isKept = !(factory is NOOPMetricsHandler)
        let out = [("direction", "out")]
        let incoming = [("direction", "in")]
        callsOut = Counter(label: "transport_calls_total", dimensions: out, factory: factory)
        callsIn = Counter(label: "transport_calls_total", dimensions: incoming, factory: factory)
        errorsOut = Counter(label: "transport_call_errors_total", dimensions: out, factory: factory)
        errorsIn = Counter(label: "transport_call_errors_total", dimensions: incoming, factory: factory)
        callDuration = Timer(label: "transport_call_duration", dimensions: [], factory: factory)
        bytesOut = Counter(label: "transport_bytes_total", dimensions: out, factory: factory)
        bytesIn = Counter(label: "transport_bytes_total", dimensions: incoming, factory: factory)
        queueBytes = Recorder(label: "transport_queue_bytes", dimensions: [], factory: factory)
        roundTrip = Timer(label: "transport_round_trip", dimensions: [], factory: factory)
        links = Gauge(label: "transport_links", dimensions: [], factory: factory)
        handshakeFailures = Counter(label: "transport_handshake_failures_total", dimensions: [], factory: factory)
        beacons = Dictionary(
            uniqueKeysWithValues: (["accepted"] + BeaconFault.labels).map { label in
                (label, Counter(label: "transport_beacons_total", dimensions: [("result", label)], factory: factory))
            })
    }

    /// Counts a datagram that was heard; `nil` stands for a good one.
    func heardBeacon(_ fault: BeaconFault?) { beacons[fault?.label ?? "accepted"]?.increment() }

    func madeCall() { callsOut.increment() }

    /// A call that was made at `start` has its answer.
    func callEnded(_ start: ContinuousClock.Instant) {
        guard isKept else { return }
        callDuration.record(duration: start.duration(to: .now))
    }

    func ownCallFailed() { errorsOut.increment() }

    func received() { callsIn.increment() }

    func theirCallFailed() { errorsIn.increment() }

    func wrote(bytes: Int) { bytesOut.increment(by: bytes) }

    func read(bytes: Int) { bytesIn.increment(by: bytes) }

    func queued(bytes: Int) { queueBytes.record(bytes) }

    func measured(roundTripNanoseconds: Int64) { roundTrip.recordNanoseconds(roundTripNanoseconds) }

    func linked(count: Int) { links.record(count) }

    func handshakeFailed() { handshakeFailures.increment() }
}
