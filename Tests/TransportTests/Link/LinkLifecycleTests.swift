import Base
import Testing

@testable import Transport

@Suite struct LinkLifecycleTests {
    private func settled(_ life: inout LinkLifecycle) -> LinkLifecycle.Action? {
        life.settle(made: 0, served: 0, hasUnwritten: false)
    }

    @Test func `a link that stays open is never settled`() {
        var life = LinkLifecycle()
        life.peerGaveWay()
        #expect(settled(&life) == nil)
        #expect(!life.isRetired)
    }

    @Test func `a leaving node says goodbye once, and closes when all calls are done and written`() {
        var life = LinkLifecycle()
        #expect(life.leave() == .send(.goodbye))
        #expect(life.leave() == nil)
        #expect(life.isRetired)
        #expect(life.settle(made: 1, served: 0, hasUnwritten: false) == nil)
        #expect(life.settle(made: 0, served: 1, hasUnwritten: false) == nil)
        #expect(life.settle(made: 0, served: 0, hasUnwritten: true) == nil)
        #expect(life.settle(made: 0, served: 0, hasUnwritten: false) == .close)
        #expect(life.settle(made: 0, served: 0, hasUnwritten: false) == nil, "it is closed once")
    }

    @Test func `a link that gives way says so when its own calls are done, and serves those of the peer`() {
        var life = LinkLifecycle()
        life.giveWay()
        #expect(life.settle(made: 1, served: 0, hasUnwritten: false) == nil)
        #expect(life.settle(made: 0, served: 3, hasUnwritten: true) == .send(.giveWay))
        #expect(life.settle(made: 0, served: 0, hasUnwritten: false) == nil, "the peer may still have calls to make")
        life.peerGaveWay()
        #expect(life.settle(made: 0, served: 1, hasUnwritten: false) == nil)
        #expect(life.settle(made: 0, served: 0, hasUnwritten: true) == nil)
        #expect(life.settle(made: 0, served: 0, hasUnwritten: false) == .close)
    }

    @Test func `a peer that gave way first is remembered`() {
        var life = LinkLifecycle()
        life.peerGaveWay()
        life.giveWay()
        #expect(settled(&life) == .send(.giveWay))
        #expect(settled(&life) == .close)
    }

    @Test func `a peer that leaves is made no calls, and closes the connection itself`() {
        var life = LinkLifecycle()
        life.peerLeaves()
        #expect(life.isRetired)
        #expect(settled(&life) == nil)
        life.giveWay()
        #expect(settled(&life) == .send(.giveWay))
        life.peerGaveWay()
        #expect(life.peer == .leaves)
        #expect(settled(&life) == nil)
    }

    @Test func `a shutdown also leaves a link that is giving way`() {
        var life = LinkLifecycle()
        life.giveWay()
        #expect(life.leave() == .send(.goodbye))
        #expect(settled(&life) == .close)
        life.giveWay()
        #expect(life.state == .closing)
    }

    @Test func `a shutdown also leaves a link that has given way`() {
        var life = LinkLifecycle()
        life.giveWay()
        #expect(settled(&life) == .send(.giveWay))
        #expect(life.leave() == .send(.goodbye))
        #expect(settled(&life) == .close)
    }

    @Test(arguments: [true, false]) func `an ended link remembers whether it was retired before`(gaveWay: Bool) {
        var life = LinkLifecycle()
        if gaveWay { life.giveWay() }
        life.end()
        #expect(life.hasEnded)
        #expect(life.isRetired == gaveWay)
        life.end()
        #expect(life.isRetired == gaveWay)
        #expect(life.leave() == nil)
        life.giveWay()
        #expect(life.isRetired == gaveWay)
        #expect(settled(&life) == nil)
    }

    /// Events in any order: what must never happen does not, and every allowed outcome happens at least once.
    @Test func `no order of events closes a busy link or sends a frame twice`() {
        var seen: Set<LinkLifecycle.Action> = []
        for seed in 0..<2000 {
            var random = SplitMix64(seed: UInt64(seed))
            var life = LinkLifecycle()
            var said: [LinkLifecycle.Action] = []
            var wasRetired = false
            var made = 1
            for _ in 0..<12 {
                // None is made once the link is retired; those under way end some time.
                made = min(Int(random.next() % 2), wasRetired ? made : 1)
                let served = Int(random.next() % 2)
                let hasUnwritten = random.next() % 2 == 0
                let action: LinkLifecycle.Action?
                switch random.next() % 8 {
                case 0: action = life.leave()
                case 1:
                    life.giveWay()
                    action = nil
                case 2:
                    life.peerLeaves()
                    action = nil
                case 3:
                    life.peerGaveWay()
                    action = nil
                case 4 where random.next() % 4 == 0:
                    life.end()
                    action = nil
                default:
                    action = life.settle(made: made, served: served, hasUnwritten: hasUnwritten)
                    if action == .close {
                        #expect(made == 0 && served == 0 && !hasUnwritten, "seed \(seed)")
                    }
                    if action == .send(.giveWay) { #expect(made == 0, "seed \(seed)") }
                }
                #expect(!wasRetired || life.isRetired, "seed \(seed): calls are made again")
                wasRetired = life.isRetired
                guard let action else { continue }
                #expect(!said.contains(action), "seed \(seed)")
                #expect(said.last != .close, "seed \(seed): something follows the close")
                said.append(action)
                seen.insert(action)
            }
            // With nothing under way, a link that this side leaves, or that both give way, is closed.
            guard !life.hasEnded, said.contains(.send(.goodbye)) || (life.peer == .gaveWay && life.isRetired) else {
                continue
            }
            while let action = settled(&life) { said.append(action) }
            #expect(said.contains(.close), "seed \(seed): it stays for ever")
        }
        #expect(seen == [.send(.goodbye), .send(.giveWay), .close])
    }
}
