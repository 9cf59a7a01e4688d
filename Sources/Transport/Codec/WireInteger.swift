extension Int: WireNumber {}
extension Int8: WireNumber {}
extension Int16: WireNumber {}
extension Int32: WireNumber {}
extension Int64: WireNumber {}
extension UInt: WireNumber {}
extension UInt8: WireNumber {}
extension UInt16: WireNumber {}
extension UInt32: WireNumber {}
extension UInt64: WireNumber {}

extension WireNumber where Self: FixedWidthInteger {
    static func read(_ wire: WireValue) -> Self? {
        switch wire {
        case .unsigned(let value): Self(exactly: value)
        case .negative(let complement): Int64(exactly: complement).flatMap { Self(exactly: ~$0) }
        default: nil
        }
    }
}
