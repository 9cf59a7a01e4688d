import Base
import Testing

@testable import Transport

@Suite struct CallMapTests {
    @Test(arguments: 1...20) func `it holds what a dictionary holds`(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        var map = CallMap<Int>()
        var model: [UInt64: Int] = [:]
        // Numbers that count up, and numbers that share slots, up to the largest.
        let numbers =
            (0..<40).map { UInt64($0) } + (0..<40).map { UInt64.max - 256 * UInt64($0 % 20) - UInt64($0 / 20) }
        for step in 0..<3000 {
            let call = numbers.randomElement(using: &random) ?? 0
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                map[call] = step
                model[call] = step
            case 2:
                let removed = map.removeValue(forKey: call)
                #expect(removed == model.removeValue(forKey: call))
            default: #expect(map[call] == model[call])
            }
            #expect(map.count == model.count)
        }
        #expect(Dictionary(map.all.map { ($0.call, $0.value) }, uniquingKeysWith: { $0 + $1 }) == model)
        for call in numbers { map[call] = nil }
        #expect(map.count == 0 && map.all.isEmpty)
    }
}
