import Foundation
import Glibc
import Testing

@testable import SkyNode

struct ServiceManagerTests {
    /// A socket like systemd's, and the messages that it gets.
    private final class Listener {
        let descriptor: Int32
        let path = "/tmp/skynode-notify-\(UUID())"

        init() throws {
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(result == 0)
        }

        deinit {
            close(descriptor)
            unlink(path)
        }

        func next() -> String {
            var bytes = [UInt8](repeating: 0, count: 1000)
            let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        }
    }

    @Test func `systemd gets one datagram with a line for each message`() throws {
        let listener = try Listener()
        let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": listener.path]))
        manager.notify(.ready, .status("4 slots,\n12 nodes"))
        #expect(listener.next() == "READY=1\nSTATUS=4 slots,12 nodes")
        manager.notify(.stopping, .needs(.seconds(70)))
        #expect(listener.next() == "STOPPING=1\nEXTEND_TIMEOUT_USEC=70000000")
        manager.notify(.alive)
        #expect(listener.next() == "WATCHDOG=1")
    }

    @Test func `a missing socket is ignored`() throws {
        let manager = try #require(ServiceManager(environment: ["NOTIFY_SOCKET": "/tmp/none-\(UUID())"]))
        manager.notify(.ready)
        try #require(ServiceManager(environment: ["NOTIFY_SOCKET": "@none-\(UUID())"])).notify(.ready)
    }

    @Test func `without a valid socket path there is no service manager`() {
        #expect(ServiceManager(environment: [:]) == nil)
        for path in ["", "relative", "/" + String(repeating: "x", count: 200)] {
            #expect(ServiceManager(environment: ["NOTIFY_SOCKET": path]) == nil)
        }
    }

    @Test func `a repeated signal within milliseconds is an echo, and a later one is not`() {
        #expect(NodeService.isEcho(after: .milliseconds(5)))
        #expect(!NodeService.isEcho(after: .milliseconds(200)))
    }

    @Test func `the watchdog applies only to its process`() {
        func watchdog(_ settings: [String: String]) -> Duration? {
            ServiceManager(environment: settings.merging(["NOTIFY_SOCKET": "/x"]) { $1 }, process: 7)?.watchdog
        }
        #expect(watchdog(["WATCHDOG_USEC": "3000000"]) == .seconds(3))
        #expect(watchdog(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "7"]) == .seconds(3))
        #expect(watchdog(["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "8"]) == nil)
        #expect(watchdog(["WATCHDOG_USEC": "0"]) == nil)
        #expect(watchdog(["WATCHDOG_USEC": "soon"]) == nil)
        #expect(watchdog([:]) == nil)
    }
}
