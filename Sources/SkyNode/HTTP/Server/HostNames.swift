import Glibc
import Transport

/// The names under which a node answers HTTP.
///
/// A page of the web can have its own name resolve to this machine (DNS rebinding), and the browser then takes the node for a part
/// of the page. But the browser sends the page's name in `Host`. IP addresses are nobody's name and always fit.
struct HostNames: Sendable {
    enum Verdict: Hashable {
        case accepted
        /// There is no host, there are several, or it is not a `HOST[:PORT]` (RFC 9112, section 3.2).
        case malformed
        /// The name is somebody else's.
        case foreign(String)
    }

    private let names: Set<String>
    /// Ends of names, each with its leading dot.
    private let domains: [String]

    /// - Parameters:
    ///   - machine: what the machine is called, with or without its domain.
    ///   - extra: further names; `*.example.org` is every name below that.
    init(machine: String = HostNames.machine, extra: [String] = []) {
        let machine = HostNames.normal(machine)
        let extra = extra.map(HostNames.normal)
        names = Set(
            ["localhost", machine, machine.split(separator: ".").first.map(String.init) ?? machine]
                + extra.filter { !$0.hasPrefix("*.") }
        ).subtracting([""])
        // RFC 6761, section 6.3: names below localhost are this machine too.
        domains = [".localhost"] + extra.filter { $0.hasPrefix("*.") }.map { String($0.dropFirst()) }
    }

    /// Whether a name may be configured.
    static func isValid(_ name: String) -> Bool {
        isName(name.hasPrefix("*.") ? String(name.dropFirst(2)) : name)
    }

    /// - Parameter hosts: all hosts that the request names, in `Host` or `:authority`.
    func judge(_ hosts: [String]) -> Verdict {
        guard hosts.count == 1, let host = HostNames.host(hosts[0]) else { return .malformed }
        if IPAddress(host) != nil { return .accepted }
        guard HostNames.isName(host) else { return .malformed }
        let name = HostNames.normal(host)
        return names.contains(name) || domains.contains(where: name.hasSuffix) ? .accepted : .foreign(host)
    }

    /// The name or address in `HOST[:PORT]`, an IPv6 address without its brackets.
    private static func host(_ text: String) -> String? {
        var host = Substring(text)
        if let end = text.lastIndex(of: ":"), !text.hasSuffix("]") {
            let port = text[text.index(after: end)...]
            // The port may be left out behind the colon (RFC 3986, section 3.2.3).
            guard port.utf8.count <= 5, port.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
            host = text[..<end]
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            let inner = String(host.dropFirst().dropLast())
            return inner.utf8.contains(UInt8(ascii: ":")) && IPAddress(inner) != nil ? inner : nil
        }
        return host.isEmpty || host.utf8.contains(UInt8(ascii: ":")) ? nil : String(host)
    }

    /// 1 to 253 letters, digits, hyphens, dots and, as some networks have them, underscores.
    private static func isName(_ text: String) -> Bool {
        (1...253).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || "-._".utf8.contains($0)
            }
    }

    /// Names are the same in capitals and with the root's dot.
    private static func normal(_ name: String) -> String {
        let name = name.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// The machine's own name.
    static var machine: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "localhost" }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
