import Base
import CLinux
import Glibc

/// A filter of system calls (seccomp(2)): a program that the kernel runs before each one. What is not named is denied.
///
/// A denied call fails with EPERM, as it does for a user who lacks the right, because libraries know that and go on. Calls that are
/// newer than this list fail with ENOSYS, as on an older kernel, because the C library then takes the older call instead.
/// Only a call by the numbers of another architecture kills the process: nothing here makes one, and the numbers mean
/// other calls there.
struct SystemCallFilter {
    /// What is asked of an argument of a call.
    enum Condition: Hashable {
        /// One of these values, of the lower 32 bits.
        case isOne(of: [UInt32])
        /// All of these bits are set, or none of them is.
        case has([UInt32: Bool])
    }

    /// Calls that are allowed whatever their arguments are.
    var allowed: Set<Int> = []
    /// Calls that are allowed if an argument is right: its index, from 0.
    var conditional: [Int: (argument: Int, condition: Condition)] = [:]
    /// Calls that fail with ENOSYS.
    var absent: Set<Int> = []

    /// From this number on calls are newer than the list: those of Linux 6.0 and before are less on all architectures.
    private static let firstUnknown: UInt32 = 451

    // AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64 of <linux/audit.h>, which Swift does not import.
    #if arch(x86_64)
        private static let architecture = UInt32(0xC000_003E)
        /// Calls of the x32 ABI have this bit; they are none of the list's, and must not pass for new ones.
        private static let foreign: UInt32? = 0x4000_0000
    #elseif arch(arm64)
        private static let architecture = UInt32(0xC000_00B7)
        private static let foreign: UInt32? = nil
    #else
        #error("The filter of system calls needs the numbers of this architecture.")
    #endif

    /// The program of the kernel's classic BPF.
    var program: [sock_filter] {
        let (load, equal, atLeast, anyBit, give): (UInt16, UInt16, UInt16, UInt16, UInt16) = (
            UInt16(BPF_LD | BPF_W | BPF_ABS), UInt16(BPF_JMP | BPF_JEQ | BPF_K), UInt16(BPF_JMP | BPF_JGE | BPF_K),
            UInt16(BPF_JMP | BPF_JSET | BPF_K), UInt16(BPF_RET | BPF_K)
        )
        func step(_ code: UInt16, _ value: UInt32, _ yes: UInt8 = 0, _ no: UInt8 = 0) -> sock_filter {
            sock_filter(code: code, jt: yes, jf: no, k: value)
        }
        let allow = step(give, UInt32(SECCOMP_RET_ALLOW))
        let deny = step(give, UInt32(SECCOMP_RET_ERRNO) | UInt32(EPERM))
        let unknown = step(give, UInt32(SECCOMP_RET_ERRNO) | UInt32(ENOSYS))
        // Offsets in `struct seccomp_data`: the number, the architecture, and from 16 on the arguments of 8 bytes each, whose lower
        // half comes first on the two architectures.
        var steps = [
            step(load, 4), step(equal, SystemCallFilter.architecture, 1, 0),
            step(give, UInt32(SECCOMP_RET_KILL_PROCESS)), step(load, 0),
        ]
        if let foreign = SystemCallFilter.foreign { steps += [step(atLeast, foreign, 0, 1), deny] }
        for number in allowed.sorted() { steps += [step(equal, UInt32(number), 0, 1), allow] }
        for number in absent.sorted() { steps += [step(equal, UInt32(number), 0, 1), unknown] }
        for (number, (argument, condition)) in conditional.sorted(by: { $0.key < $1.key }) {
            var check = [step(load, UInt32(16 + 8 * argument))]
            switch condition {
            case .isOne(let values): for value in values { check += [step(equal, value, 0, 1), allow] }
            case .has(let bits):
                for (bit, isSet) in bits.sorted(by: { $0.key < $1.key }) {
                    check += [isSet ? step(anyBit, bit, 1, 0) : step(anyBit, bit, 0, 1), deny]
                }
                check.append(allow)
            }
            check.append(deny)
            steps += [step(equal, UInt32(number), 0, UInt8(check.count))] + check
        }
        return steps + [step(atLeast, SystemCallFilter.firstUnknown, 0, 1), unknown, deny]
    }

    /// Installs the filter for all threads of this process, for good. Filters that were installed before stay.
    ///
    /// - Throws: `SkyError` if the kernel does not take it.
    func install() throws(SkyError) {
        var steps = program
        let status = steps.withUnsafeMutableBufferPointer { steps in
            var program = sock_fprog(len: UInt16(steps.count), filter: steps.baseAddress)
            return linux_seccomp(UInt32(SECCOMP_SET_MODE_FILTER), UInt32(SECCOMP_FILTER_FLAG_TSYNC), &program)
        }
        guard status == 0 else {
            let reason = status > 0 ? "thread \(status) has another filter" : String(cString: strerror(errno))
            throw SkyError(.failed, "the kernel does not take the filter of system calls: \(reason)")
        }
    }
}
