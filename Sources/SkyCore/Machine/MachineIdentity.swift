import Base
import Foundation

/// Which machine this is, as systemd numbers machines (machine-id(5)). Two nodes of one machine lose their disks together.
enum MachineIdentity {
    /// Stands for the machine; a random number where the system does not tell.
    static let number: UInt64 = {
        guard let text = try? String(contentsOfFile: "/etc/machine-id", encoding: .utf8), text.count >= 32 else {
            return .random(in: .min ... .max)
        }
        return StableHash.of(text)
    }()
}
