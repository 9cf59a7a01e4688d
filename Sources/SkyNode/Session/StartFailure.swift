import Base
import NIOCore
import SkyCore
import Transport

/// Why a node could not start, for the person who started it.
enum StartFailure {
    static func command(_ error: any Error, listen: NodeAddress?) -> CommandFailure {
        if let error = error as? NetworkInterfaceError { return CommandFailure(.usage, "--interface: \(error)") }
        if let error = error as? JournalError { return CommandFailure(.usage, PrintableText.of(error.message)) }
        if let error = error as? SecurityError { return CommandFailure(.usage, error.description) }
        if let error = error as? MulticastError { return CommandFailure(.usage, PrintableText.of(error.description)) }
        let place = listen.map { "\($0)" } ?? "its address"
        if let error = error as? IOError {
            let hint =
                switch error.errnoCode {
                case 98:
                    "the port is busy; is a node running there already? --listen takes another, port 0 any free one"
                case 99: "this machine has no such address"
                case 13: "that needs more rights; ports below 1024 are for root"
                default: String(describing: error)
                }
            return CommandFailure(.usage, "cannot listen on \(place): \(hint)")
        }
        return CommandFailure(.usage, "cannot listen on \(place): \(PrintableText.of(String(describing: error)))")
    }
}
