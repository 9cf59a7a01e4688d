/// Values by the numbers of calls, as a dictionary.
///
/// The calls of one side count up, so that the numbers of those under way are near each other: nearly each has a slot of a table to
/// itself, which is found without hashing. Where two numbers share a slot, the later one is in a dictionary. A peer that chooses its
/// numbers as it likes gets no more than that.
struct CallMap<Value> {
    fileprivate struct Slot {
        var call: UInt64
        var value: Value
    }

    /// This is a power of two. A hundred calls at once, which is many, mostly fit.
    private static var slotCount: Int { 256 }

    /// The table is made with the first call.
    private var slots: [Slot?] = []
    private var others: [UInt64: Value] = [:]
    private(set) var count = 0

    private func slot(of call: UInt64) -> Int { Int(truncatingIfNeeded: call & UInt64(CallMap.slotCount - 1)) }

    subscript(call: UInt64) -> Value? {
        get {
            guard count > 0 else { return nil }
            if let slot = slots[slot(of: call)], slot.call == call { return slot.value }
            return others.isEmpty ? nil : others[call]
        }
        set {
            if let newValue { put(newValue, at: call) } else { removeValue(forKey: call) }
        }
    }

    private mutating func put(_ value: Value, at call: UInt64) {
        if slots.isEmpty { slots = Array(repeating: nil, count: CallMap.slotCount) }
        let index = slot(of: call)
        if slots[index]?.call == call {
            slots[index]?.value = value
        } else if !others.isEmpty, others[call] != nil {
            others[call] = value
        } else {
            count += 1
            if slots[index] == nil { slots[index] = Slot(call: call, value: value) } else { others[call] = value }
        }
    }

    @discardableResult
    mutating func removeValue(forKey call: UInt64) -> Value? {
        guard count > 0 else { return nil }
        let index = slot(of: call)
        if let slot = slots[index], slot.call == call {
            slots[index] = nil
            count -= 1
            return slot.value
        }
        guard !others.isEmpty, let value = others.removeValue(forKey: call) else { return nil }
        count -= 1
        return value
    }

    /// All values, in no order.
    var all: [(call: UInt64, value: Value)] {
        slots.compactMap { slot in slot.map { ($0.call, $0.value) } } + others.map { ($0.key, $0.value) }
    }
}

extension CallMap: Sendable where Value: Sendable {}
extension CallMap.Slot: Sendable where Value: Sendable {}
