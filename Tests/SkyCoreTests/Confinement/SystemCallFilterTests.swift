import CLinux
import Glibc
import Testing

@testable import SkyCore

/// The filter's program, run as the kernel runs it.
@Suite struct SystemCallFilterTests {
    private enum Verdict: Equatable { case allow, deny, absent, kill, wrongProgram }

    #if arch(x86_64)
        private static let here: UInt32 = 0xC000_003E
    #else
        private static let here: UInt32 = 0xC000_00B7
    #endif

    /// The subset of BPF that filters use (Documentation/networking/filter.rst of the kernel).
    private func run(
        _ program: [sock_filter], _ number: Int32, _ arguments: [UInt64] = [], architecture: UInt32 = here
    ) -> Verdict {
        var (accumulator, place): (UInt32, Int) = (0, 0)
        while place < program.count {
            let step = program[place]
            place += 1
            switch step.code {
            case 0x20:
                switch step.k {
                case 0: accumulator = UInt32(bitPattern: number)
                case 4: accumulator = architecture
                case 16...56:
                    let index = Int(step.k - 16) / 8
                    let value = index < arguments.count ? arguments[index] : 0
                    accumulator = UInt32(truncatingIfNeeded: (step.k - 16) % 8 == 0 ? value : value >> 32)
                default: return .wrongProgram
                }
            case 0x15: place += Int(accumulator == step.k ? step.jt : step.jf)
            case 0x35: place += Int(accumulator >= step.k ? step.jt : step.jf)
            case 0x45: place += Int(accumulator & step.k != 0 ? step.jt : step.jf)
            case 0x06:
                switch step.k {
                case 0x7FFF_0000: return .allow
                case 0x0005_0000 | UInt32(EPERM): return .deny
                case 0x0005_0000 | UInt32(ENOSYS): return .absent
                case 0x8000_0000: return .kill
                default: return .wrongProgram
                }
            default: return .wrongProgram
            }
        }
        return .wrongProgram
    }

    private let before = SystemCallFilter.beforeLink().program
    private let linked = SystemCallFilter.linked(process: 77).program

    @Test func `a worker reads, waits and computes`() {
        for number in [__NR_read, __NR_pread64, __NR_futex, __NR_epoll_ctl, __NR_munmap, __NR_exit_group, __NR_sendto] {
            #expect(run(before, number) == .allow && run(linked, number) == .allow, "\(number)")
        }
    }

    @Test func `a link can be made until there is one`() {
        #expect(run(before, __NR_socket, [UInt64(AF_UNIX)]) == .allow)
        #expect(run(before, __NR_socket, [UInt64(AF_INET)]) == .deny)
        #expect(run(before, __NR_connect) == .allow)
        for number in [__NR_socket, __NR_connect, __NR_seccomp, __NR_socketpair, __NR_bind, __NR_accept4] {
            #expect(run(linked, number, [UInt64(AF_UNIX)]) == .deny, "\(number)")
        }
    }

    @Test func `no program is started, no process looked at, and nothing of the system changed`() {
        for number in [
            __NR_execve, __NR_execveat, __NR_ptrace, __NR_process_vm_writev, __NR_mount, __NR_keyctl, __NR_bpf,
            __NR_unshare, __NR_setns, __NR_io_uring_setup, __NR_memfd_create, __NR_unlinkat, __NR_userfaultfd,
            __NR_setuid,
            __NR_tkill, __NR_personality, __NR_add_key, __NR_pidfd_getfd,
        ] {
            #expect(run(before, number) == .deny && run(linked, number) == .deny, "\(number)")
        }
    }

    @Test func `files are opened for reading only`() {
        for flags in [O_WRONLY, O_RDWR, O_RDONLY | O_CREAT, O_RDONLY | O_TRUNC] {
            #expect(run(linked, __NR_openat, [0, 0, UInt64(flags)]) == .deny, "\(flags)")
        }
        #expect(run(linked, __NR_openat, [0, 0, UInt64(O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)]) == .allow)
    }

    @Test func `threads are started and processes are not`() {
        #expect(run(linked, __NR_clone, [0x3D_0F00]) == .allow)
        #expect(run(linked, __NR_clone, [UInt64(SIGCHLD)]) == .deny)
        // The C library takes `clone` then.
        #expect(run(linked, __NR_clone3) == .absent)
    }

    @Test func `signals and limits are for the process itself`() {
        for number in [__NR_kill, __NR_tgkill] {
            #expect(run(linked, number, [77, 77, 6]) == .allow)
            #expect(run(linked, number, [78, 77, 6]) == .deny)
            // All processes of the user, and those of a group.
            #expect(run(linked, number, [UInt64(bitPattern: -1)]) == .deny)
            #expect(run(linked, number, [UInt64(bitPattern: -77)]) == .deny)
        }
        #expect(run(linked, __NR_prlimit64, [0]) == .allow && run(linked, __NR_prlimit64, [78]) == .deny)
    }

    @Test func `no memory becomes executable`() {
        let (read, write, execute): (UInt64, UInt64, UInt64) = (1, 2, 4)
        for number in [__NR_mmap, __NR_mprotect] {
            #expect(run(linked, number, [0, 4096, read | write]) == .allow)
            #expect(run(linked, number, [0, 4096, read | execute]) == .deny)
            #expect(run(before, number, [0, 4096, read | execute]) == .allow, "libraries may still be loaded")
        }
    }

    @Test func `other architectures are killed, and newer calls are as on an older kernel`() {
        #expect(run(linked, __NR_read, architecture: 0x4000_0003) == .kill)
        #expect(run(linked, 1000) == .absent)
        #if arch(x86_64)
            #expect(run(linked, 0x4000_0000) == .deny, "a call of x32")
        #endif
    }

    /// A jump over more steps than a byte counts would go wrong without a word.
    @Test func `the programs are within the kernel's bounds`() {
        for program in [before, linked] {
            #expect((100...4096).contains(program.count))
            for (place, step) in program.enumerated() where step.code & 7 == 5 {
                #expect(place + 1 + Int(max(step.jt, step.jf)) < program.count)
            }
        }
    }
}
