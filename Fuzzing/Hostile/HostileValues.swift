/// Values that nobody of good faith sends, and values that are just inside or just outside a limit.
extension FuzzInput {
    mutating func hostileInteger() -> Int64 {
        let choices: [Int64] = [
            0, 1, -1, 2, 7, 8, 63, 64, 65, 255, 256, 512, 4096, 9999, 10_000, 100_000, 1 << 20, 10_000_000,
            Int64(Int32.max) - 1, Int64(Int32.max), Int64(Int32.max) + 1, Int64(Int32.min), Int64(UInt32.max), 1 << 53,
            1 << 62, .max, .max - 1, .min, .min + 1, .max / 2, .min / 2, 86_400, 86_401, 1 << 40, -2, -64,
        ]
        let choice = Int(byte())
        if choice < 224 { return choices[choice % choices.count] }
        return choice & 1 == 0 ? Int64(choice) : integer()
    }

    mutating func hostileUnsigned() -> UInt64 {
        let choices: [UInt64] = [
            0, 1, 2, 1 << 31, 1 << 32, 1 << 53, 1 << 62, 1 << 63, .max, .max - 1, UInt64(Int64.max),
        ]
        let choice = Int(byte())
        if choice < 224 { return choices[choice % choices.count] }
        return choice & 1 == 0 ? UInt64(choice) : integer()
    }

    mutating func hostileReal() -> Double {
        let choices: [Double] = [
            0, -0.0, 1, -1, 0.5, 1e-3, 1e3, 1e6, 1e9, 1e10, 1.1e10, -1e10, 1e12, 1e15, 1e18, 1e19, 1e30, 1e38, 1e39,
            1e300,
            .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .infinity, -.infinity, .nan, .leastNonzeroMagnitude,
            .leastNormalMagnitude, -1e-300, 9.3e18, -9.3e18, 2_147_483_647, 2_147_483_648, 4_294_967_296, 1e-45,
        ]
        let choice = Int(byte())
        if choice < 224 { return choices[choice % choices.count] }
        return choice & 1 == 0 ? Double(choice) : Double(bitPattern: integer())
    }

    mutating func hostileText() -> String {
        switch byte() % 12 {
        case 0: ""
        case 1: "/"
        case 2: "nan"
        case 3: "\0"
        case 4: "\u{1B}[2J\n"
        case 5: "\u{202E}e\u{301}\u{1F9D1}\u{200D}\u{1F680}"
        case 6: String(repeating: "x", count: 300)
        case 7: String(repeating: "\u{2609}", count: 1500)
        case 8: "1e999"
        case 9: "-9223372036854775808"
        default: String(decoding: take(Int(byte() & 15)), as: UTF8.self)
        }
    }

    /// A duration from nothing to much longer than any clock.
    mutating func hostileDuration() -> Duration {
        let low = hostileInteger()
        switch byte() & 7 {
        case 0: return Duration(_high: low, low: hostileUnsigned())
        case 1: return .seconds(low >> 8)
        case 2: return .nanoseconds(low)
        default: return .milliseconds(Int64(byte()))
        }
    }
}
