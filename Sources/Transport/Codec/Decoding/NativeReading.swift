import FoundationEssentials
import NIOCore

extension WireReader {
    /// Returns `value` as a `T` if `T` is one of the types that the coder reads itself, the counterpart of `NativeValue`, and if
    /// `value` is of its kind. Otherwise `construct` lets `T` decode itself: it is another type, or an array of numbers that the
    /// peer declares as something else, or there is a mismatch, which `T` will report.
    ///
    /// There is no `Optional<T>` on the way: looking up its metadata takes longer than reading a number.
    @inline(__always)
    func read<T>(
        _ type: T.Type,
        from value: WireValue,
        slice: (WireRange) throws -> ByteBuffer,
        orElse construct: () throws -> T
    ) throws -> T {
        switch value {
        case .string(let range):
            if T.self == String.self { return exactly(try text(range)) }
        case .unsigned, .negative:
            if T.self == Int.self, let number = Int.read(value) { return exactly(number) }
            if T.self == Double.self, let number = Double.read(value) { return exactly(number) }
            if T.self == UInt64.self, let number = UInt64.read(value) { return exactly(number) }
            if T.self == UInt8.self, let number = UInt8.read(value) { return exactly(number) }
            if T.self == Int32.self, let number = Int32.read(value) { return exactly(number) }
            if T.self == Int64.self, let number = Int64.read(value) { return exactly(number) }
            if T.self == UInt32.self, let number = UInt32.read(value) { return exactly(number) }
        case .float, .double:
            if T.self == Double.self, let number = Double.read(value) { return exactly(number) }
            if T.self == Float.self, let number = Float.read(value) { return exactly(number) }
        case .bool(let value):
            if T.self == Bool.self { return exactly(value) }
        case .bytes(let range):
            if T.self == [UInt8].self { return exactly([UInt8](try self.slice(range))) }
            if T.self == ByteBuffer.self { return exactly(try slice(range)) }
            // This is a copy: a `Data` writes to borrowed memory in place, and others would read that as part of the message.
            if T.self == Data.self { return exactly(Data(try self.slice(range))) }
        case .packed(let range):
            return try readNumbers(type, range, orElse: construct)
        case .unkeyed(let range) where range.count == 0:
            // An array of nothing has no kind of its own. The writer, which writes arrays of numbers without opening a
            // container, does not count it among the nested ones; nor does the reader.
            return try readNumbers(type, nil, orElse: construct)
        case .null, .keyed, .unkeyed: break
        }
        return try construct()
    }

    /// - Parameter range: the range of the packed array; `nil` for an empty one.
    private func readNumbers<T>(_ type: T.Type, _ range: WireRange?, orElse construct: () throws -> T) throws -> T {
        if T.self == [Double].self, let array = try numbers(Double.self, range) { return exactly(array) }
        if T.self == [Float].self, let array = try numbers(Float.self, range) { return exactly(array) }
        if T.self == [Int].self, let array = try numbers(Int.self, range) { return exactly(array) }
        if T.self == [Int32].self, let array = try numbers(Int32.self, range) { return exactly(array) }
        if T.self == [Int64].self, let array = try numbers(Int64.self, range) { return exactly(array) }
        if T.self == [UInt32].self, let array = try numbers(UInt32.self, range) { return exactly(array) }
        if T.self == [UInt64].self, let array = try numbers(UInt64.self, range) { return exactly(array) }
        if T.self == [Int16].self, let array = try numbers(Int16.self, range) { return exactly(array) }
        if T.self == [UInt16].self, let array = try numbers(UInt16.self, range) { return exactly(array) }
        if T.self == [Int8].self, let array = try numbers(Int8.self, range) { return exactly(array) }
        if T.self == [UInt].self, let array = try numbers(UInt.self, range) { return exactly(array) }
        if T.self == [UInt8].self, let array = try numbers(UInt8.self, range) { return exactly(array) }
        return try construct()
    }

    @inline(__always)
    private func numbers<Element: PackedElement>(_ type: Element.Type, _ range: WireRange?) throws -> [Element]? {
        guard let range else { return [] }
        return try [Element](packed: range, in: self)
    }
}

/// `value` as the `T` that the caller has just found `U` to be.
@inline(__always)
private func exactly<T, U>(_ value: U) -> T {
    unsafeBitCast(value, to: T.self)
}
