/// Metrics in Prometheus's text format 0.0.4.
struct PrometheusText {
    private(set) var text = ""
    private var published: Set<String> = []

    /// What counters, gauges and timers are about, by name.
    static let help: [String: String] = [
        "skynode_transport_calls_total": "Calls between nodes.",
        "skynode_transport_call_errors_total": "Calls between nodes that ended with an error.",
        "skynode_transport_call_duration_seconds": "Time from making a call to its answer or error.",
        "skynode_transport_bytes_total": "Bytes on connections between nodes, before encryption.",
        "skynode_transport_queue_bytes": "Bytes that wait to be written on a link, as seen now and then.",
        "skynode_transport_round_trip_seconds": "Round trip of pings between nodes.",
        "skynode_transport_links": "Links to other nodes and commands that are up.",
        "skynode_transport_handshake_failures_total": "Handshakes that failed or were refused.",
        "skynode_transport_beacons_total": "Multicast datagrams heard, by what became of them.",
    ]

    /// Adds a family of series of one name.
    mutating func add(
        _ name: String, _ help: String, _ type: String, _ series: [(labels: [String: String], value: Double)]
    ) {
        guard published.insert(name).inserted else { return }
        begin(name, help, type)
        for (labels, value) in series { text += line(name, labels, value) }
    }

    private mutating func begin(_ name: String, _ help: String, _ type: String) {
        text += "# HELP \(name) \(PrometheusText.escaped(help))\n# TYPE \(name) \(type)\n"
    }

    /// Adds everything that was counted.
    mutating func add(_ registry: MetricsRegistry) {
        let families = Dictionary(grouping: registry.all, by: \.key.name)
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            let sorted = family.sorted { one, other in
                PrometheusText.labels(one.key.dimensions) < PrometheusText.labels(other.key.dimensions)
            }
            let type =
                switch family[0].value {
                case .counter: "counter"
                case .gauge: "gauge"
                case .summary: "summary"
                }
            begin(name, PrometheusText.help[name] ?? "Counted by the node.", type)
            for (series, value) in sorted {
                switch value {
                case .counter(let count): text += line(name, series.dimensions, Double(count))
                case .gauge(let value): text += line(name, series.dimensions, value)
                case .summary(let count, let sum):
                    text += line(name + "_sum", series.dimensions, sum)
                    text += line(name + "_count", series.dimensions, Double(count))
                }
            }
        }
    }

    private func line(_ name: String, _ labels: [String: String], _ value: Double) -> String {
        let number = value.rounded() == value && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
        return "\(name)\(PrometheusText.labels(labels)) \(number)\n"
    }

    private static func labels(_ labels: [String: String]) -> String {
        guard !labels.isEmpty else { return "" }
        let pairs = labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(escaped($0.value).quoted)\"" }
        return "{" + pairs.joined(separator: ",") + "}"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }
}

extension String {
    fileprivate var quoted: String { replacing("\"", with: "\\\"") }
}
