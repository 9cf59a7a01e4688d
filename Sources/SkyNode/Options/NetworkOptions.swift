import ArgumentParser
import Base
import Glibc
import Transport

/// How a node finds others. The options are the same for a daemon and for a node inside a command.
struct NetworkOptions: ParsableArguments {
    @Option(ServeKeys.interface, completion: .shellCommand("ls /sys/class/net")) var interface: [String]
    @Option(ServeKeys.multicast) var multicast: String?
    @Flag(ServeKeys.noMulticast) var noMulticast: Bool
    @Option(ServeKeys.join) var join: [String]

    @OptionGroup var security: SecurityOptions

    /// The settings of multicast; `nil` where it is off.
    func multicastSettings() throws -> MulticastSettings? {
        if noMulticast {
            if multicast != nil {
                throw CommandFailure(.usage, "--multicast and --no-multicast contradict each other")
            }
            return nil
        }
        var settings = MulticastSettings()
        if let multicast {
            guard let given = MulticastSettings(multicast) else {
                throw CommandFailure(
                    .usage,
                    "--multicast \(PrintableText.of(multicast)): not an IPv4 multicast group with a port, such as "
                        + "\(settings.group):\(settings.port)")
            }
            settings = given
        }
        settings.interfaces = interface
        return settings
    }

    /// The options by which nodes are found, as they were given.
    var searchWords: [String] {
        interface.flatMap { ["--interface", $0] } + (multicast.map { ["--multicast", $0] } ?? [])
            + (noMulticast ? ["--no-multicast"] : [])
    }

    /// Checks the interfaces as the start of a node does.
    func checkInterfaces() throws {
        do {
            try multicastSettings()?.checkInterfaces()
        } catch let error as NetworkInterfaceError {
            throw CommandFailure(.usage, "--interface \(PrintableText.of(error.name)): \(error)")
        }
    }

    func seeds() throws -> [NodeAddress] {
        try join.map { text in
            let address = try AddressArgument.parse(text, option: "--join", allowsPortZero: false)
            try security.checkReach(address, option: "--join")
            return address
        }
    }
}
