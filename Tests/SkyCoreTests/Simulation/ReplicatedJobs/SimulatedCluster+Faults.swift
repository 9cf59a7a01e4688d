import Transport

@testable import SkyCore

/// Misfortunes of machines that keep copies, and of the network between them.
extension SimulatedCluster {
    /// When two machines can reach each other again; `nil` where nothing is in the way.
    func obstacleEnd(between left: Int, _ right: Int) -> Duration? {
        [copies.cutEnd(between: left, right), hosts[left].frozenUntil, hosts[right].frozenUntil].compactMap(\.self)
            .max()
    }

    /// Misfortunes come at the worst moment now and then: after a promise, and where an election was lost.
    mutating func crashAtWorst(_ reply: ReplicaReply, _ host: Int) {
        guard copies.mayFail, reply.isGranted else { return }
        let hasLost =
            reply.position?.term == copies.stoodFor[host] && hosts[host].process?.replica?.core.isPrimary == false
        if hasLost { copies.stoodFor[host] = nil }
        guard hasLost && chance(50) || reply.promised > copies.published.term && chance(10) else { return }
        schedule(.replicated(.fault(.ofReplicas(.crash(host, for: delay(10...300))))), after: delay(0...20))
    }

    /// A crash hardly ever comes while several batches are written, and it is then that they may reach the disk in part.
    mutating func crashInWrite(at host: Int) {
        guard copies.mayFail, chance(1) else { return }
        schedule(.replicated(.fault(.ofReplicas(.crash(host, for: delay(10...3000))))), after: delay(0...1))
    }

    mutating func randomFault() -> ReplicatedFault {
        let host = Int.random(in: 0..<hosts.count, using: &random)
        let other = (host + Int.random(in: 1..<hosts.count, using: &random)) % hosts.count
        switch Int.random(in: 0..<32, using: &random) {
        case 0...3: return .ofReplicas(.crash(host, for: chance(50) ? delay(100...3000) : delay(3000...12_000)))
        case 4...6: return .ofReplicas(.wipe(host, for: delay(100...9000)))
        case 7...8: return .ofReplicas(.rollBack(host, for: delay(100...9000)))
        case 9...11: return .ofReplicas(.freeze(host, for: delay(1000...9000)))
        case 12: return .ofReplicas(.full(host, for: delay(1000...9000)))
        case 13: return .ofReplicas(.slow(host, for: delay(1000...9000)))
        case 14...16: return .ofReplicas(.cut(host, other, for: delay(1000...9000)))
        case 17...20:
            return .ofReplicas(.split(at: Int.random(in: 1..<hosts.count, using: &random), for: delay(1000...12_000)))
        case 21: return .ofReplicas(.powerCut(for: delay(100...5000)))
        case 22...23: return .ofReplicas(.handOver)
        case 28...31: return .ofReplicas(.goodbye(host, for: delay(100...12_000)))
        case 24: return .clockSet(host)
        case 25: return .upgrade(host)
        default: return .loseInTurn
        }
    }

    mutating func perform(_ fault: ReplicatedFault) {
        copies.lastDisturbance = now
        switch fault {
        case .ofReplicas(let fault): perform(fault)
        case .upgrade(let host):
            guard !hosts[host].knowsCopies else { return }
            copies.seen.insert(.upgraded)
            crash(host, for: delay(100...2000))
            hosts[host].knowsCopies = true
        case .clockSet(let host):
            copies.seen.insert(.clockSet)
            hosts[host].clockError += delay(0...7_200_000) - .seconds(3600)
            hosts[host].clockError = max(.zero, hosts[host].clockError)
        case .loseInTurn:
            guard let host = hosts.indices.first(where: { hosts[$0].process?.core != nil }) else { return }
            crash(host, for: delay(4000...12_000))
            copies.losesNext = true
        }
    }

    private mutating func perform(_ fault: SimulatedFault) {
        switch fault {
        case .crash(let host, let time): crash(host, for: time)
        case .wipe(let host, let time): wipe(host, for: time)
        case .rollBack(let host, let time): rollBack(host, for: time)
        case .freeze(let host, let time):
            hosts[host].frozenUntil = max(hosts[host].frozenUntil, now + time)
            guard time > .seconds(2) else { return }
            for other in hosts.indices where linked(host, other) {
                schedule(.linkBroken(min(host, other), max(host, other)), after: delay(1500...3000))
            }
        case .full(let host, let time): hosts[host].diskFullUntil = now + time
        case .slow(let host, let time): hosts[host].slowUntil = now + time
        case .cut(let from, let to, let time):
            copies.seen.insert(.cutOneWay)
            copies.cuts[[from, to]] = now + time
            schedule(.linkBroken(min(from, to), max(from, to)), after: delay(500...3000))
        case .split(let place, let time):
            copies.seen.insert(.split)
            for left in 0..<place {
                for right in place..<hosts.count {
                    copies.cuts[[left, right]] = now + time
                    copies.cuts[[right, left]] = now + time
                    breakLink(left, right)
                }
            }
        case .powerCut(let time):
            for host in hosts.indices { crash(host, for: time + delay(0...3000)) }
        case .goodbye(let host, let time):
            let replica = hosts[host].disk.id
            for other in hosts.indices where linked(host, other) { copies.goodbyes[[other, host]] = (replica, now) }
            step(host) { $0.isLeaving = true }
            schedule(.replicated(.left(host, for: time)), after: delay(0...3000))
        case .handOver:
            guard let host = hosts.indices.first(where: { hosts[$0].process?.core != nil }) else { return }
            step(host) { $0.handOver(to: $0.record.set.members) }
        }
    }

    private mutating func wipe(_ host: Int, for time: Duration) {
        guard mayLose(host) else { return }
        copies.seen.insert(.diskLost)
        crash(host, for: time)
        if let position = hosts[host].disk.record.position { copies.lostPositions.append(position) }
        hosts[host].disk = ReplicatedDisk(id: ReplicaID(rawValue: random.next()))
        hosts[host].backups = []
    }

    private mutating func rollBack(_ host: Int, for time: Duration) {
        // One that has forgotten a promise that nothing follows from so far, or that there are copies, cannot be recognised at
        // once.
        let isDecided = hosts[host].disk.record.promised <= copies.published.term
        let backups = hosts[host].backups.filter {
            $0.id == hosts[host].disk.id && $0.record.set.members.count > 1
        }
        guard isDecided, mayLose(host, isForgetting: true), let backup = backups.randomElement(using: &random) else {
            return
        }
        copies.seen.insert(.diskPutBack)
        crash(host, for: time)
        if let position = hosts[host].disk.record.position { copies.lostPositions.append(position) }
        hosts[host].disk = backup
        hosts[host].disk.wasPutBack = true
    }

    /// Whether this disk may be lost: one is survived while a majority of the members is left, and one of these has what was
    /// published.
    ///
    /// - Parameter isForgetting: whether the disk is to come back as it was earlier. What it has acknowledged counts as published then:
    ///   a primary that was frozen meanwhile finds that answer, and nobody is left who knows that it holds no more.
    private func mayLose(_ host: Int, isForgetting: Bool = false) -> Bool {
        let set = copies.publishedSet(first: hosts[0].disk.id)
        let sets = hosts.compactMap { $0.disk.record.position == nil ? nil : $0.disk.record.set } + [set]
        var published = copies.published
        if isForgetting, hosts[host].process?.replica?.core.isPrimary != true,
            let position = hosts[host].disk.record.position, copies.contains(position, published)
        {
            published = position
        }
        return sets.allSatisfy { set in
            set.survives(
                losing: hosts[host].disk.id, isForgetting: isForgetting,
                isWhole: { replica in
                    guard let other = self.host(with: replica) else { return false }
                    return hosts[other].disk.record.position != nil && !hosts[other].disk.wasPutBack
                },
                hasPublished: { replica in
                    guard let other = self.host(with: replica), let position = hosts[other].disk.record.position else {
                        return false
                    }
                    return copies.contains(position, published)
                })
        }
    }
}
