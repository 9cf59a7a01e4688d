import Foundation
import NIOCore
import SkyCore
import Testing
import Transport

@testable import SkyNode

/// The parts of the HTTP API that decide.
struct HTTPTests {
    private static let job = "00000000000000ff"

    @Test(arguments: [
        ("GET", "/healthz", APIRoute.health), ("HEAD", "/readyz", .readiness), ("GET", "/metrics", .metrics),
        ("GET", "/v1/nodes", .nodes), ("GET", "/v1/jobs/", .jobs), ("POST", "/v1/jobs", .submit),
        ("GET", "/v1/jobs/\(job)", .job(JobID(rawValue: 255))),
        ("DELETE", "/v1/jobs/\(job)", .delete(JobID(rawValue: 255))),
        ("GET", "/v1/jobs/\(job)/events", .events(JobID(rawValue: 255))),
    ])
    func `existing paths are routed`(method: String, path: String, route: APIRoute) throws {
        #expect(try APIRoute(method: method, path: path) == route)
    }

    @Test(arguments: [
        "/", "", "/v1", "/v2/jobs", "/v1/jobs/ff", "/v1/jobs/00000000000000fg", "/v1/jobs/+0000000000000ff",
        "/v1/jobs/\(job)/event", "/v1/jobs/\(job)/events/1", "/healthz/x", "/v1/nodes/1",
    ])
    func `unknown paths are not found`(path: String) {
        #expect(throws: APIRoute.Problem.notFound) { try APIRoute(method: "GET", path: path) }
    }

    @Test func `dates have the format of HTTP`() {
        // The example of RFC 9110, and the last second of a leap year.
        #expect(HTTPServer.date(Date(timeIntervalSince1970: 784_111_777)) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPServer.date(Date(timeIntervalSince1970: 1_735_689_599)) == "Tue, 31 Dec 2024 23:59:59 GMT")
    }

    @Test func `a refused method lists the allowed ones`() {
        #expect(throws: APIRoute.Problem.method(["GET", "HEAD", "POST"])) {
            try APIRoute(method: "PUT", path: "/v1/jobs")
        }
        #expect(throws: APIRoute.Problem.method(["GET", "HEAD"])) { try APIRoute(method: "POST", path: "/metrics") }
        #expect(throws: APIRoute.Problem.method(["GET"])) {
            try APIRoute(method: "HEAD", path: "/v1/jobs/\(HTTPTests.job)/events")
        }
    }

    @Test func `a token bucket lets a burst through, and then its rate`() {
        var bucket = TokenBucket(rate: 10, capacity: 3)
        func takes(_ times: Duration...) -> [Bool] { times.map { bucket.take(now: $0) } }
        #expect(takes(.seconds(1), .seconds(1), .seconds(1), .seconds(1)) == [true, true, true, false])
        #expect(takes(.milliseconds(1050), .milliseconds(1150)) == [false, true])
        // A clock that goes back gives nothing.
        #expect(takes(.zero) == [false])
        #expect(takes(.seconds(100), .seconds(100), .seconds(100), .seconds(100)) == [true, true, true, false])
    }

    @Test func `metrics have the format of Prometheus`() {
        let registry = MetricsRegistry()
        let counter = registry.makeCounter(label: "transport_calls_total", dimensions: [("direction", "o\"u\\t\n")])
        counter.increment(by: 2)
        let timer = registry.makeTimer(label: "transport_round_trip", dimensions: [])
        timer.recordNanoseconds(1_500_000_000)
        timer.recordNanoseconds(500_000_000)
        let gauge = registry.makeRecorder(label: "transport_links", dimensions: [], aggregate: false)
        gauge.record(Int64(7))
        gauge.record(3.5)
        gauge.record(.nan)
        _ = registry.makeCounter(label: "transport_bytes_total", dimensions: [("direction", "in")])
        var text = PrometheusText()
        text.add("skynode_slots", "Tasks.", "gauge", [([:], 4)])
        text.add("skynode_slots", "Once only.", "gauge", [([:], 5)])
        text.add(registry)
        #expect(
            text.text == """
                # HELP skynode_slots Tasks.
                # TYPE skynode_slots gauge
                skynode_slots 4
                # HELP skynode_transport_bytes_total Bytes on connections between nodes, before encryption.
                # TYPE skynode_transport_bytes_total counter
                skynode_transport_bytes_total{direction="in"} 0
                # HELP skynode_transport_calls_total Calls between nodes.
                # TYPE skynode_transport_calls_total counter
                skynode_transport_calls_total{direction="o\\"u\\\\t\\n"} 2
                # HELP skynode_transport_links Links to other nodes and commands that are up.
                # TYPE skynode_transport_links gauge
                skynode_transport_links 3.5
                # HELP skynode_transport_round_trip_seconds Round trip of pings between nodes.
                # TYPE skynode_transport_round_trip_seconds summary
                skynode_transport_round_trip_seconds_sum 2
                skynode_transport_round_trip_seconds_count 2

                """)
    }

    @Test func `an answer that hangs is given up after its time limit`() async {
        let never = Latch()
        let answer = await API.answer(within: .milliseconds(20)) {
            await never.wait()
            return 1
        }
        #expect(answer == nil && !never.isOpen)
        never.open()
        #expect(await API.answer(within: .seconds(60)) { 2 } == 2)
    }
}
