import FoundationEssentials
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// The system's own certificate, from its start and as long as it runs.
extension ClusterSystem {
    /// The revocations that count here.
    public var revocations: Revocations { state.withLockedValue { $0.revocations } }

    /// Takes revocations, whoever brings them: each tells by its signature whether it is true. Links of persons whose credentials do
    /// not count any more end at once; what runs for them goes on.
    ///
    /// - Returns: whether any of them says more than what was known.
    @discardableResult
    public func revoke(_ revocations: some Sequence<Revocation>) -> Bool {
        let known = self.revocations
        // A signature takes long to check, and others tell mostly what is known.
        let news = revocations.prefix(Revocations.limit).filter(known.isNews)
        let (authentic, others) = settings.security.examine(news)
        leaveOut(others, from: "other nodes")
        let (isNew, ended) = state.withLockedValue { state in
            var isNew = false
            for revocation in authentic where state.revocations.add(revocation) { isNew = true }
            let ended = state.links.all.filter { link in
                if case .person(let certificate)? = link.identity {
                    state.revocations.revoke(certificate)
                } else {
                    false
                }
            }
            return (isNew, ended)
        }
        for link in ended {
            if let person = link.person {
                logger.notice("closed the link of a revoked credential", metadata: ["peer": "\(person)"])
            }
            link.close()
        }
        return isNew
    }

    /// Logs which revocations do not count, because no key of this node has signed them. While a key is changed, some nodes still have
    /// those of the old one.
    ///
    /// - Parameter source: where they are from. Each source costs one line a day.
    package func leaveOut(_ revocations: [Revocation], from source: String) {
        let now = now
        guard !revocations.isEmpty, state.withLockedValue({ $0.logged.isDue("left out", of: source, now: now) }) else {
            return
        }
        // Those of a peer may have any text for a name.
        let names = Set(revocations.map(\.name).filter(Person.isValidName)).sorted()
        logger.notice(
            "revocations of another cluster key are left out",
            metadata: ["from": "\(source)", "persons": "\(names.joined(separator: ", "))"])
    }

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
