import FoundationEssentials
import Logging
import NIOCore
import NIOPosix

/// The system's own certificate, from its start and as long as it runs.
extension ClusterSystem {
    /// How often it is looked whether the certificate has to be renewed, or the files of an own PKI have changed.
    private static let renewalInterval = TimeAmount.minutes(5)

    func startSecurity() throws {
        guard let tls = try TLSContexts(settings.security, node: node, now: .now) else { return }
        let loop = eventLoopGroup.next()
        let renewal = loop.scheduleRepeatedAsyncTask(
            initialDelay: ClusterSystem.renewalInterval, delay: ClusterSystem.renewalInterval
        ) { [logger] _ in
            // It reads files and computes for a millisecond: not on the event loop.
            NIOThreadPool.singleton.runIfActive(eventLoop: loop) {
                do {
                    if try tls.renewIfDue(now: .now) { logger.debug("renewed this node's certificate") }
                } catch {
                    logger.warning(
                        "cannot renew this node's certificate",
                        metadata: ["error": "\(error)", "valid until": "\(tls.validUntil)"])
                }
            }
        }
        secure(by: tls, renewal: renewal)
    }
}
