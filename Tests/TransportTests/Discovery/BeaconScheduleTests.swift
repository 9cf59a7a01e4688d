import Testing

@testable import Transport

@Suite struct BeaconScheduleTests {
    @Test func `a newcomer beacons a few times at once and then every few seconds`() {
        var schedule = BeaconSchedule(generator: SeededGenerator(seed: 1))
        var now = Duration.zero
        var step = schedule.handle(.started, now: now)
        var sent = [step.send]
        while now < .seconds(10) {
            now += step.pause
            step = schedule.handle(.due, now: now)
            sent.append(step.send)
        }
        #expect(sent.prefix(3) == [.solicit, .solicit, .announce])
        #expect((5...8).contains(sent.count))
    }

    @Test func `a question is answered soon, and a flood of questions slowly`() {
        var schedule = BeaconSchedule(generator: SeededGenerator(seed: 1))
        _ = schedule.handle(.started, now: .zero)
        let first = schedule.handle(.solicited, now: .seconds(1))
        #expect(first.send == nil && first.pause <= BeaconSchedule.answerSpread)
        _ = schedule.handle(.due, now: .seconds(1) + first.pause)
        let next = schedule.handle(.solicited, now: .seconds(1) + first.pause)
        #expect(next.pause >= BeaconSchedule.answerInterval)
    }

    @Test func `the beacon after an answer comes before the answer's validity ends`() {
        for seed in 1...100 {
            var schedule = BeaconSchedule(generator: SeededGenerator(seed: UInt64(seed)))
            _ = schedule.handle(.started, now: .zero)
            for second in 1...5 { _ = schedule.handle(.due, now: .seconds(second)) }
            let answer = schedule.handle(.solicited, now: .seconds(6))
            let second = schedule.handle(.due, now: .seconds(6) + answer.pause)
            #expect(second.send == .announce && second.pause <= .milliseconds(2700))
            let third = schedule.handle(.due, now: .seconds(6) + answer.pause + second.pause)
            #expect(third.pause >= .seconds(3))
        }
    }

    @Test func `with many nodes the beacons of each are rarer`() {
        #expect(BeaconSchedule.interval(members: 0) == .seconds(4))
        #expect(BeaconSchedule.interval(members: 16) == .seconds(4))
        #expect(BeaconSchedule.interval(members: 32) == .seconds(8))
        #expect(BeaconSchedule.interval(members: 1000) == .seconds(16))
    }

    @Test func `few nodes all answer a newcomer, and only some of many do`() {
        var schedule = BeaconSchedule(generator: SeededGenerator(seed: 1))
        #expect((0..<100).allSatisfy { _ in schedule.answersNewcomer(members: 16) })
        let answers = (0..<10_000).count { _ in schedule.answersNewcomer(members: 160) }
        #expect((800...1200).contains(answers))
    }

    @Test func `a change is sent at once, as a question`() {
        var schedule = BeaconSchedule(generator: SeededGenerator(seed: 1))
        _ = schedule.handle(.started, now: .zero)
        for second in 1...5 { _ = schedule.handle(.due, now: .seconds(second)) }
        let step = schedule.handle(.changed, now: .seconds(6))
        #expect(step == .init(send: .solicit, pause: BeaconSchedule.opening[0]))
        #expect(schedule.handle(.due, now: .seconds(6) + step.pause).send == .solicit, "the first may be lost")
    }

    @Test(arguments: ["239.1.2.3:7000", "224.0.0.99:1"]) func `multicast groups are read`(text: String) {
        #expect(MulticastSettings(text) != nil)
    }

    @Test(arguments: ["10.0.0.1:7000", "239.1.2.3", "239.1.2.3:0", "239.1.2:7", "ff02::1:7", "", "239.1.2.3:99999"])
    func `text that is not a multicast group is refused`(text: String) {
        #expect(MulticastSettings(text) == nil)
    }
}
