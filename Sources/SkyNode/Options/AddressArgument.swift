import Transport

/// Addresses on the command line.
enum AddressArgument {
    static func parse(_ text: String, option: String, allowsPortZero: Bool) throws -> NodeAddress {
        guard let address = NodeAddress(text) else {
            throw CommandFailure(
                .usage, "\(option) \(PrintableText.of(text)): not an address of the form HOST:PORT")
        }
        if !allowsPortZero, case .hostPort(_, 0) = address {
            throw CommandFailure(.usage, "\(option) \(PrintableText.of(text)): port 0 cannot be connected to")
        }
        return address
    }
}
