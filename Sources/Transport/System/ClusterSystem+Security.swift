import FoundationEssentials
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// The system's own certificate, from its start and as long as it runs.
extension ClusterSystem {
    func startSecurity() throws {
        guard let tls = try TLSContexts(settings.security, node: node, now: .now) else { return }
        let loop = eventLoopGroup.next()
        let schedule = NIOLockedValueBox(RenewalSchedule(at: .now(), wall: .now))
        let renewal = loop.scheduleRepeatedAsyncTask(
            initialDelay: RenewalSchedule.pause, delay: RenewalSchedule.pause
        ) { [logger] _ in
            guard schedule.withLockedValue({ $0.isDue(at: .now(), wall: .now) }) else {
                return loop.makeSucceededVoidFuture()
            }
            // A renewal reads files and computes for a millisecond, so it does not run on the event loop.
            return NIOThreadPool.singleton.runIfActive(eventLoop: loop) {
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
