import Base
import Transport

/// Addresses on the command line.
enum AddressArgument {
    static func parse(_ text: String, option: String, allowsPortZero: Bool) throws -> NodeAddress {
        guard let address = NodeAddress(text) else {
            throw CommandFailure(
                .usage,
                "\(option) \(PrintableText.of(text)): not an address of the form HOST:PORT\(advice(text, option))")
        }
        if !allowsPortZero, case .hostPort(_, 0) = address {
            throw CommandFailure(.usage, "\(option) \(PrintableText.of(text)): port 0 cannot be connected to")
        }
        return address
    }

    /// Suggests the address that was probably meant.
    private static func advice(_ text: String, _ option: String) -> String {
        let host = option == "--listen" ? "0.0.0.0" : "127.0.0.1"
        if let port = UInt16(text) { return "; did you mean \(host):\(port)?" }
        let isName =
            !text.isEmpty && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ".-".contains($0)) }
        let port = option == "--http" ? Defaults.httpPort : Defaults.port
        return isName ? "; did you mean \(text):\(port)?" : ""
    }
}
