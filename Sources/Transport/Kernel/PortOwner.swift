import Base
import FoundationEssentials

/// A process of this machine that has a port, found in /proc (proc(5)).
package struct PortOwner: Hashable, Sendable, CustomStringConvertible {
    package var process: Int
    package var command: String

    package var description: String { "\(command) (process \(process))" }

    package enum Kind: String, Sendable {
        case udp, tcp
    }

    /// The processes that have a port, over IPv4 or IPv6; for TCP, those that listen on it. Only root sees processes of other
    /// users.
    package static func find(_ kind: Kind, port: Int, root: String = "/proc") -> [PortOwner] {
        let tables = ["\(root)/net/\(kind.rawValue)", "\(root)/net/\(kind.rawValue)6"]
        let sockets = Set(tables.compactMap(KernelText.of).flatMap { inodes($0, port: port, kind) })
        guard !sockets.isEmpty, let entries = try? FileManager.default.contentsOfDirectory(atPath: root) else {
            return []
        }
        return entries.compactMap { Int($0) }.sorted().filter { owns($0, sockets, root) }.map { process in
            let command = KernelText.of("\(root)/\(process)/comm").map { $0.prefix { $0 != "\n" } } ?? "?"
            return PortOwner(process: process, command: PrintableText.of(String(command)))
        }
    }

    /// Inodes of the sockets in a table of /proc/net that have a local port.
    static func inodes(_ table: String, port: Int, _ kind: Kind) -> [String] {
        let hexadecimal = String(port, radix: 16, uppercase: true)
        let suffix = ":" + String(repeating: "0", count: max(0, 4 - hexadecimal.count)) + hexadecimal
        return table.split(separator: "\n").dropFirst().compactMap { line in
            // The fields are sl, local and remote address, state, queues, timers, retransmissions, user, time-outs, inode.
            let fields = line.split(separator: " ")
            guard fields.count > 9, fields[1].hasSuffix(suffix), kind == .udp || fields[3] == "0A" else { return nil }
            return String(fields[9])
        }
    }

    private static func owns(_ process: Int, _ sockets: Set<String>, _ root: String) -> Bool {
        let folder = "\(root)/\(process)/fd"
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return false }
        return names.contains { name in
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)"),
                target.hasPrefix("socket:[")
            else { return false }
            return sockets.contains(String(target.dropFirst("socket:[".count).dropLast()))
        }
    }

}
