import Logging
import SkyCore
import Transport

/// What a running node can take over from its configuration.
struct NodeChange {
    var slots: Int
    var retention: JobRetention
    var limits: JournalLimits
    var join: [NodeAddress]
    var grace: Duration
    var logLevel: Logger.Level
}
