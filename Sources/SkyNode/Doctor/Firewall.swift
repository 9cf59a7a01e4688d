import Foundation

/// The program that manages this machine's firewall, so that advice can be a command.
enum Firewall: Hashable {
    case ufw, firewalld, other

    /// - Parameter root: the folder that the system's files are below.
    static func find(root: String = "/") -> Firewall {
        func text(_ path: String) -> String { (try? String(contentsOfFile: root + path, encoding: .utf8)) ?? "" }
        if text("etc/ufw/ufw.conf").split(whereSeparator: \.isNewline).contains("ENABLED=yes") { return .ufw }
        if FileManager.default.fileExists(atPath: root + "run/firewalld.pid") { return .firewalld }
        return .other
    }

    /// How to let nodes through.
    func advice(udp: Int, tcp: Int) -> String {
        switch self {
        case .ufw: "run: ufw allow \(udp)/udp; ufw allow \(tcp)/tcp"
        case .firewalld:
            "run: firewall-cmd --permanent --add-port=\(udp)/udp --add-port=\(tcp)/tcp; firewall-cmd --reload"
        case .other:
            "a firewall has to let in UDP \(udp) and TCP \(tcp), and multicast out; `nft list ruleset` shows the rules"
        }
    }
}
