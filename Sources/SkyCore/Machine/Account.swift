import Glibc

/// A user of this machine, as /etc/passwd or what stands for it has it (getpwuid(3)).
package struct Account: Sendable {
    package var name: String
    /// The home; `nil` where the entry has none.
    package var home: String?

    /// The user of this process; `nil` where there is no entry, as in many containers.
    package static let ofThisProcess: Account? = {
        var entry = passwd()
        return withRecord { buffer, size, found in
            getpwuid_r(geteuid(), &entry, buffer, size, found)
        } read: {
            let home = String(cString: entry.pw_dir)
            return Account(name: String(cString: entry.pw_name), home: home.hasPrefix("/") ? home : nil)
        }
    }()

    /// The home of this process's user: `HOME`, or that of the entry where `HOME` is none.
    package static var home: String? {
        guard let home = getenv("HOME"), home.pointee == UInt8(ascii: "/") else { return ofThisProcess?.home }
        return String(cString: home)
    }

    /// The name of a group, and the users that its entry lists.
    static func members(of group: gid_t) -> (name: String, others: [String])? {
        var entry = Glibc.group()
        return withRecord { buffer, size, found in
            getgrgid_r(group, &entry, buffer, size, found)
        } read: {
            var others: [String] = []
            var member = entry.gr_mem
            while let name = member?.pointee {
                others.append(String(cString: name))
                member = member?.advanced(by: 1)
            }
            return (String(cString: entry.gr_name), others)
        }
    }

    /// Gives the C library room for the texts of an entry, more where it asks for more.
    private static func withRecord<Record, Result>(
        _ find: (UnsafeMutablePointer<CChar>, Int, UnsafeMutablePointer<UnsafeMutablePointer<Record>?>) -> Int32,
        read: () -> Result
    ) -> Result? {
        var size = 1 << 10
        while size <= 1 << 20 {
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { buffer.deallocate() }
            var found: UnsafeMutablePointer<Record>?
            let status = find(buffer, size, &found)
            if status == 0 { return found == nil ? nil : read() }
            guard status == ERANGE else { return nil }
            size *= 2
        }
        return nil
    }
}
