import CSEP

/// SEP's status codes; its header does not name them.
enum SEPError {
    static let pixelStackFull: Int32 = 2
    static let deblendOverflow: Int32 = 7

    /// SEP's own short text for a status.
    static func words(_ status: Int32) -> String {
        // SEP writes at most 60 characters and a zero.
        var text = [CChar](repeating: 0, count: 128)
        sep_get_errmsg(status, &text)
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return "\(String(decoding: bytes, as: UTF8.self)) (SEP \(status))"
    }
}
