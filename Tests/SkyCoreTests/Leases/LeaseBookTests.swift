import SkyCore
import Testing
import Transport

@Suite("Lease book")
struct LeaseBookTests {
    let anna = CoordinatorID(rawValue: 1)
    let bert = CoordinatorID(rawValue: 2)
    let carl = CoordinatorID(rawValue: 3)

    func book(slots: Int) -> LeaseBook { LeaseBook(slots: slots, duration: .seconds(5)) }

    func attempt(_ task: Int) -> AttemptID {
        AttemptID(job: JobID(rawValue: 1), task: TaskID(task), number: 1)
    }

    @Test("grants what is free and remembers the rest of the demand")
    func grantsWhatIsFree() {
        var book = book(slots: 4)
        #expect(book.reserve(3, for: anna, now: .zero).lease.slots == 3)
        #expect(book.reserve(3, for: bert, now: .zero).lease.slots == 2)
        #expect(book.free == 0)
        let returned = book.reserve(0, for: anna, now: .zero)
        #expect(returned.lease.slots == 0)
        #expect(returned.changed.map(\.coordinator) == [bert])
        #expect(returned.changed.map(\.slots) == [3])
        #expect(book.free == 1)
    }

    @Test("takes idle slots above the fair share at once, and reports whose they were")
    func takesIdleExcess() {
        var book = book(slots: 4)
        #expect(book.reserve(4, for: anna, now: .zero).lease.slots == 4)
        let reply = book.reserve(4, for: bert, now: .zero)
        #expect(reply.lease.slots == 2)
        #expect(reply.changed.map(\.coordinator) == [anna])
        #expect(reply.changed.map(\.slots) == [2])
    }

    @Test("takes busy slots above the fair share only when their attempts finish")
    func waitsForBusyExcess() {
        var book = book(slots: 2)
        _ = book.reserve(2, for: anna, now: .zero)
        #expect(book.start(attempt(0), for: anna, now: .zero) == nil)
        #expect(book.start(attempt(1), for: anna, now: .zero) == nil)
        #expect(book.reserve(2, for: bert, now: .zero).lease.slots == 0)
        #expect(book.start(attempt(2), for: bert, now: .zero) == .noIdleSlot)
        let changed = book.finish(attempt(0), now: .zero)
        #expect(Set(changed.map(\.coordinator)) == [anna, bert])
        #expect(changed.allSatisfy { $0.slots == 1 })
        #expect(book.start(attempt(2), for: bert, now: .zero) == nil)
        #expect(book.start(attempt(3), for: anna, now: .zero) == .noIdleSlot)
    }

    @Test("grants a small demand in full, and divides the rest among the others")
    func smallDemandsAreGranted() {
        var book = book(slots: 9)
        _ = book.reserve(100, for: anna, now: .zero)
        _ = book.reserve(100, for: bert, now: .zero)
        #expect(book.reserve(1, for: carl, now: .zero).lease.slots == 1)
        #expect(book.lease(of: anna)?.slots == 4)
        #expect(book.lease(of: bert)?.slots == 4)
    }

    @Test("gives a coordinator that works for three people three times as much")
    func sharesByPeople() {
        var book = book(slots: 8)
        _ = book.reserve(100, for: anna, now: .zero)
        #expect(book.reserve(100, people: 3, for: bert, now: .zero).lease.slots == 6)
        #expect(book.lease(of: anna)?.slots == 2)
        // Who wants less than that gets it.
        #expect(book.reserve(5, people: 3, for: bert, now: .zero).lease.slots == 5)
        #expect(book.lease(of: anna)?.slots == 3)
        #expect(book.reserve(100, for: bert, now: .zero).lease.slots == 4, "it works for one again")
        for absurd in [0, -1, Int.min] {
            #expect(book.reserve(100, people: absurd, for: bert, now: .zero).lease.slots == 4)
        }
        #expect(book.reserve(100, people: .max, for: bert, now: .zero).lease.slots == 7, "one is left")
    }

    @Test("lets nobody wait for ever beside one that works for many people", arguments: [1, 2, 5, 8])
    func fewAreServedBesideMany(slots: Int) {
        var book = book(slots: slots)
        var (served, now): ([CoordinatorID: Int], Duration) = ([:], .zero)
        for task in 0..<100 {
            _ = book.reserve(100, people: 10, for: bert, now: now)
            _ = book.reserve(100, for: anna, now: now)
            for coordinator in [anna, bert] {
                served[coordinator, default: 0] += book.lease(of: coordinator)?.slots ?? 0
            }
            for coordinator in [anna, bert] {
                for slot in 0..<(book.lease(of: coordinator)?.slots ?? 0) {
                    _ = book.start(
                        attempt(task * 100 + slot + (coordinator == anna ? 50 : 0)), for: coordinator, now: now)
                }
            }
            now += .seconds(4)
            for slot in 0..<100 { _ = book.finish(attempt(task * 100 + slot), now: now) }
        }
        let (few, many) = (served[anna, default: 0], served[bert, default: 0])
        #expect(few >= 10 && many * 10 >= few * 9, "\(served)")
    }

    @Test("lets two coordinators take turns on one slot, however long their tasks are", arguments: [1, 5, 7, 10, 60])
    func takesTurns(seconds: Int) {
        var book = book(slots: 1)
        _ = book.reserve(1, for: anna, now: .zero)
        _ = book.reserve(1, for: bert, now: .zero)
        var served: [CoordinatorID: Int] = [:]
        var now: Duration = .zero
        for task in 0..<200 {
            for coordinator in [anna, bert] { _ = book.reserve(1, for: coordinator, now: now) }
            guard let holder = [anna, bert].first(where: { book.lease(of: $0)?.slots == 1 }) else { continue }
            #expect(book.start(attempt(task), for: holder, now: now) == nil)
            served[holder, default: 0] += 1
            now += .seconds(seconds)
            _ = book.finish(attempt(task), now: now)
        }
        #expect(served[anna, default: 0] >= 90 && served[bert, default: 0] >= 90, "\(served)")
    }

    @Test("raises the fencing token with every change, also after the coordinator was forgotten")
    func fencingTokensOnlyGrow() {
        var book = book(slots: 2)
        let first = book.reserve(2, for: anna, now: .zero).lease
        #expect(book.renew(for: anna, now: .seconds(1)) == first)
        let second = book.reserve(1, for: anna, now: .seconds(1)).lease
        #expect(second.fencingToken > first.fencingToken)
        _ = book.coordinatorLost(anna, now: .seconds(1))
        #expect(book.reserve(2, for: anna, now: .seconds(2)).lease.fencingToken > second.fencingToken)
    }

    @Test("ends a lease that is not renewed, stops what it ran, and passes on the slots as they come free")
    func expires() {
        var book = book(slots: 2)
        _ = book.reserve(2, for: anna, now: .zero)
        #expect(book.nextExpiry == .seconds(5))
        #expect(book.start(attempt(0), for: anna, now: .zero) == nil)
        _ = book.reserve(2, for: bert, now: .seconds(4))
        #expect(book.renew(for: anna, now: .seconds(5)) == nil)
        #expect(book.start(attempt(1), for: anna, now: .seconds(5)) == .noLease)
        let expired = book.expire(now: .seconds(5))
        #expect(expired.stop == [attempt(0)])
        #expect(expired.changed.map(\.coordinator) == [anna])
        #expect(expired.changed.first?.slots == 0)
        // The stopped attempt has not ended: its slot is not given away.
        #expect(book.running == 1)
        #expect(book.lease(of: bert)?.slots == 1)
        #expect(book.finish(attempt(0), now: .seconds(6)).map(\.slots) == [2])
        #expect(book.running == 0)
    }

    @Test("keeps a lease alive that is renewed")
    func renews() {
        var book = book(slots: 1)
        _ = book.reserve(1, for: anna, now: .zero)
        #expect(book.renew(for: anna, now: .seconds(4)) != nil)
        #expect(book.expire(now: .seconds(6)).changed.isEmpty)
        #expect(book.nextExpiry == .seconds(9))
        #expect(book.renew(for: bert, now: .zero) == nil)
    }

    @Test("keeps the slots of a lost coordinator occupied until its attempts have ended")
    func losesCoordinator() {
        var book = book(slots: 2)
        _ = book.reserve(2, for: anna, now: .zero)
        _ = book.start(attempt(0), for: anna, now: .zero)
        _ = book.start(attempt(1), for: anna, now: .zero)
        _ = book.reserve(2, for: bert, now: .zero)
        let lost = book.coordinatorLost(anna, now: .zero)
        #expect(lost.stop == [attempt(0), attempt(1)])
        #expect(lost.changed.isEmpty)
        #expect(book.finish(attempt(1), now: .zero).map(\.slots) == [1])
        #expect(book.finish(attempt(0), now: .zero).map(\.slots) == [2])
        #expect(book.finish(attempt(0), now: .zero).isEmpty)
    }

    @Test("divides fairly what is left while stopped attempts still occupy slots")
    func dividesWhatIsLeft() {
        var book = book(slots: 4)
        _ = book.reserve(2, for: carl, now: .zero)
        _ = book.start(attempt(0), for: carl, now: .zero)
        _ = book.start(attempt(1), for: carl, now: .zero)
        _ = book.coordinatorLost(carl, now: .zero)
        #expect(book.reserve(4, for: anna, now: .zero).lease.slots == 2)
        let reply = book.reserve(4, for: bert, now: .zero)
        #expect(reply.lease.slots == 1)
        #expect(reply.changed.map(\.slots) == [1])
    }

    @Test("refuses the same attempt twice")
    func refusesDuplicates() {
        var book = book(slots: 2)
        _ = book.reserve(2, for: anna, now: .zero)
        #expect(book.start(attempt(0), for: anna, now: .zero) == nil)
        #expect(book.start(attempt(0), for: anna, now: .zero) == .duplicate)
        #expect(book.running == 1)
    }

    @Test("draining grants nothing new and lets running attempts go on; afterwards demands are granted")
    func drains() {
        var book = book(slots: 2)
        _ = book.reserve(2, for: anna, now: .zero)
        _ = book.start(attempt(0), for: anna, now: .zero)
        #expect(book.setDraining(true, now: .zero).map(\.slots) == [1])
        #expect(book.start(attempt(1), for: anna, now: .zero) == .draining)
        #expect(book.finish(attempt(0), now: .zero).map(\.slots) == [0])
        #expect(book.reserve(1, for: bert, now: .zero).lease.slots == 0)
        #expect(book.setDraining(false, now: .zero).reduce(0) { $0 + $1.slots } == 2)
    }

    @Test("with fewer slots than are running, nothing starts until enough have ended")
    func shrinks() {
        var book = book(slots: 3)
        _ = book.reserve(3, for: anna, now: .zero)
        for task in 0..<3 { _ = book.start(attempt(task), for: anna, now: .zero) }
        _ = book.setSlots(1, now: .zero)
        #expect(book.running == 3)
        for task in 0..<2 {
            _ = book.finish(attempt(task), now: .zero)
            #expect(book.start(attempt(9), for: anna, now: .zero) == .noIdleSlot)
        }
        _ = book.finish(attempt(2), now: .zero)
        #expect(book.start(attempt(9), for: anna, now: .zero) == nil)
    }

    @Test("says with a new fencing token that the node has no slots at all, and that it has some again")
    func tellsOfNoSlots() {
        var book = book(slots: 1)
        _ = book.reserve(1, for: anna, now: .zero)
        let before = book.reserve(1, for: bert, now: .zero).lease
        #expect(before.slots == 0 && before.hasNoSlots == nil)
        let changed = book.setSlots(0, now: .zero)
        #expect(changed.map(\.coordinator) == [anna, bert])
        #expect(changed.allSatisfy { $0.slots == 0 && $0.hasNoSlots == true })
        #expect(changed[1].fencingToken > before.fencingToken)
        let again = book.setSlots(1, now: .zero)
        #expect(again.map(\.slots) == [1, 0] && again.allSatisfy { $0.hasNoSlots == nil })
        #expect(book.setSlots(1, now: .zero).isEmpty)
    }

    @Test("takes absurd numbers for what they are")
    func toleratesAbsurdNumbers() {
        var book = book(slots: 4)
        #expect(book.reserve(.max, for: anna, now: .zero).lease.slots == 4)
        #expect(book.reserve(.max, for: bert, now: .zero).lease.slots == 2)
        #expect(book.reserve(.min, for: anna, now: .zero).lease.slots == 0)
        _ = book.setSlots(.min, now: .zero)
        #expect(book.slots == 0 && book.free == 0)
        _ = book.setSlots(.max, now: .zero)
        #expect(book.slots == LeaseBook.slotLimit)
    }
}
