import Base
import CLinux
import Glibc

/// Which build of a library is loaded. A version is not enough: SEP 1.2.1 says 1.2.0 of itself, and a distribution's patches and
/// compiler change no version. The build id is a hash of what the linker put together (`ld --build-id`), the same for every copy
/// of one file.
enum LibraryBuild {
    /// The first eight digits of the build id, in hexadecimal; `nil` if the library was built without one.
    ///
    /// - Parameter function: a function of the library.
    static func id(ofLibraryWith function: String) -> String? {
        var place = Dl_info()
        guard let address = dlsym(nil, function), dladdr(address, &place) != 0, let base = place.dli_fbase else {
            return nil
        }
        return id(at: UnsafeRawPointer(base))
    }

    /// Reads the notes of a loaded ELF file (elf(5)), which the loader has checked.
    private static func id(at base: UnsafeRawPointer) -> String? {
        let (noteSegment, buildID) = (UInt32(4), UInt32(3))
        let headers = base + Int(base.loadUnaligned(fromByteOffset: 32, as: UInt64.self))
        let size = Int(base.loadUnaligned(fromByteOffset: 54, as: UInt16.self))
        let count = Int(base.loadUnaligned(fromByteOffset: 56, as: UInt16.self))
        for number in 0..<count {
            let header = headers + number * size
            guard header.loadUnaligned(as: UInt32.self) == noteSegment else { continue }
            var note = base + Int(header.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
            let end = note + Int(header.loadUnaligned(fromByteOffset: 40, as: UInt64.self))
            while note + 12 <= end {
                let name = Int(note.loadUnaligned(as: UInt32.self))
                let length = Int(note.loadUnaligned(fromByteOffset: 4, as: UInt32.self))
                let content = note + 12 + (name + 3) / 4 * 4
                guard content + length <= end else { break }
                if note.loadUnaligned(fromByteOffset: 8, as: UInt32.self) == buildID, name == 4, length >= 4,
                    (note + 12).loadUnaligned(as: UInt32.self).littleEndian == 0x0055_4E47
                {
                    return HexText.of(UnsafeRawBufferPointer(start: content, count: 4))
                }
                note = content + (length + 3) / 4 * 4
            }
        }
        return nil
    }
}
