import FoundationEssentials
import NIOCore

/// A value whose bytes come in bulk. It is copied once, into the finished message, however large it is.
protocol WirePayload {
    /// Bytes that it takes at the very least, known without looking at them.
    var byteCountMin: Int { get }
    var form: PayloadForm { get }
    /// Fills `destination`, which has `form.byteCount` bytes.
    func copy(as form: PayloadForm, to destination: UnsafeMutableRawBufferPointer)
}

extension ByteBuffer: WirePayload {
    var byteCountMin: Int { readableBytes }
    var form: PayloadForm { .bytes(count: readableBytes) }

    func copy(as form: PayloadForm, to destination: UnsafeMutableRawBufferPointer) {
        withUnsafeReadableBytes { destination.copyMemory(from: $0) }
    }
}

extension Data: WirePayload {
    var byteCountMin: Int { count }
    var form: PayloadForm { .bytes(count: count) }

    func copy(as form: PayloadForm, to destination: UnsafeMutableRawBufferPointer) {
        withUnsafeBytes { destination.copyMemory(from: $0) }
    }
}

extension Array: WirePayload where Element: PackedElement {
    var byteCountMin: Int { count }
    var form: PayloadForm { Element.form(of: self) }

    func copy(as form: PayloadForm, to destination: UnsafeMutableRawBufferPointer) {
        switch form {
        case .bytes: withUnsafeBytes { destination.copyMemory(from: $0) }
        case .packed(let kind, _): Element.write(self, as: kind, to: destination)
        case .empty: break
        }
    }
}
