import NIOPosix
import Testing

@testable import Transport

@Suite(.timeLimit(.minutes(5))) struct WaitTimerTests {
    private let timer = WaitTimer(MultiThreadedEventLoopGroup.singleton.any())

    @Test func `every wait ends, none before its time, and nothing is kept of them`() async {
        let times = await withTaskGroup(of: (limit: Duration, time: Duration).self) { group in
            // Later ones are due before earlier ones and after them.
            for number in 0..<200 {
                let limit = Duration.milliseconds(1 + number * 37 % 50)
                group.addTask {
                    let start = ContinuousClock.now
                    await Latch(timer: timer).wait(atMost: limit)
                    return (limit, ContinuousClock.now - start)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(times.count == 200)
        #expect(times.allSatisfy { $0.time >= $0.limit })
        #expect(timer.count == 0)
    }

    @Test func `a short wait ends beside a long one, which ends when its latch opens`() async {
        let (door, begun) = (Latch(timer: timer), Latch())
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                begun.open()
                return await door.wait(atMost: .seconds(Int64.max))
            }
            await begun.wait()
            #expect(await Latch(timer: timer).wait(atMost: .milliseconds(1)) == false)
            door.open()
            #expect(await group.next() == true)
        }
        #expect(timer.count == 0)
    }

    @Test func `a cancelled wait ends, and nothing is kept of it`() async {
        let latch = Latch(timer: timer)
        let task = Task { await latch.wait(atMost: .seconds(3600)) }
        task.cancel()
        #expect(await task.value == false)
        #expect(timer.count == 0)
    }

    @Test func `an open latch and a limit of nothing need no timer`() async {
        let latch = Latch(timer: timer)
        #expect(await latch.wait(atMost: .zero) == false)
        latch.open()
        #expect(await latch.wait(atMost: .seconds(3600)))
        #expect(timer.count == 0)
    }
}
