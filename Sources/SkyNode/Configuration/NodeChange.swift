import Logging
import SkyCore
import Transport

/// The settings that a running node can take over from a changed configuration.
struct NodeChange {
    var slots: Int
    var retention: JobRetention
    var limits: JournalLimits
    var copies: CopyPolicy
    var revocations: Revocations
    var join: [NodeAddress]
    var grace: Duration
    var handOver: HandOver
    var logLevel: Logger.Level
}
