import CLinux
import Glibc

/// What a worker process must not be able to do, tried from inside. Each trial is harmless if it succeeds.
package enum SandboxTrial {
    /// The result of one trial, as a line: `exec: refused (Operation not permitted)`.
    package struct Result: CustomStringConvertible {
        package var name: String
        /// `nil` if it succeeded.
        var reason: Int32?

        package var description: String {
            guard let reason else { return "\(name): allowed" }
            return "\(name): refused (\(String(cString: strerror(reason))))"
        }
    }

    /// Tries everything.
    ///
    /// - Parameters:
    ///   - files: files that are opened for reading, and folders that are listed, by the name of the trial.
    ///   - folder: where it is tried to make a file.
    ///   - parent: the process that started this one.
    ///   - report: is called with the result of each trial. The last one is `exec`; if it succeeds, it is not reported, because
    ///     this process is another program then.
    package static func run(
        files: [(name: String, path: String)], folder: String, parent: Int32, report: (Result) -> Void
    ) {
        for file in files { report(Result(name: file.name, reason: read(file.path))) }
        func add(_ name: String, _ attempt: () -> Bool) {
            errno = 0
            report(Result(name: name, reason: attempt() ? nil : errno))
        }
        func add(_ name: String, _ number: Int32, _ a: UInt = 0, _ b: UInt = 0, _ c: UInt = 0, _ d: UInt = 0) {
            add(name) { linux_syscall(Int(number), a, b, c, d, 0) >= 0 }
        }
        for file in ["environ", "mem", "maps", "fd", "cwd/."] {
            report(Result(name: "parent's \(file)", reason: read("/proc/\(parent)/\(file)")))
        }
        report(Result(name: "list of processes", reason: read("/proc/.")))
        add("write") { made(folder + "/written-by-a-worker") }
        let file = folder + "/not-to-be-removed"
        add("chmod") { chmod(file, 0o600) == 0 }
        // Of a file to its own name: it does nothing.
        add("rename") { rename(file, file) == 0 }
        add("remove") { unlink(file) == 0 }
        for (name, family) in [("IPv4", AF_INET), ("IPv6", AF_INET6), ("Unix", AF_UNIX), ("netlink", AF_NETLINK)] {
            add("\(name) socket") { closed(socket(family, family == AF_NETLINK ? 3 : 1, 0)) }
        }
        add("socket pair") {
            var pair: (Int32, Int32) = (0, 0)
            return withUnsafeMutableBytes(of: &pair) {
                socketpair(AF_UNIX, 1, 0, $0.assumingMemoryBound(to: Int32.self).baseAddress) == 0
            }
        }
        add("signal to the parent") { kill(parent, 0) == 0 }
        add("limit of the parent", __NR_prlimit64, UInt(parent), 7)
        add("process of its own") { isParent(linux_syscall(Int(__NR_clone), UInt(SIGCHLD), 0, 0, 0, 0)) }
        // PTRACE_SEIZE does not stop the other process.
        add("ptrace", __NR_ptrace, 0x4206, UInt(parent))
        add("memory of the parent") { readsMemory(of: parent) }
        add("descriptor of the parent", __NR_pidfd_open, UInt(parent))
        add("mount", __NR_mount, 0, 0, 0, 0)
        add("namespace", __NR_unshare, 0x1000_0000)
        add("keyring", __NR_keyctl, 0, UInt(bitPattern: -3), 1)
        add("BPF", __NR_bpf, 0, 0, 0)
        add("performance counters", __NR_perf_event_open, 0, 0, 0, 0)
        add("io_uring", __NR_io_uring_setup, 1, 0)
        add("file in memory") {
            "trial".withCString {
                closed(Int32(linux_syscall(Int(__NR_memfd_create), UInt(bitPattern: $0), 0, 0, 0, 0)))
            }
        }
        add("other user", __NR_setuid, UInt(geteuid()))
        add("further filter", __NR_seccomp, 2, 0, 0)
        add("executable memory") { hasCode(PROT_READ | PROT_WRITE | PROT_EXEC) }
        add("executable memory afterwards") {
            guard let page = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) else {
                return false
            }
            return mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0
        }
        add("exec") {
            var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
            return execv("/bin/true", &arguments) == 0
        }
    }

    /// Opens a file or folder for reading, which is where the kernel asks whether that is allowed. Returns the error number; `nil` if it
    /// succeeded.
    private static func read(_ path: String) -> Int32? {
        errno = 0
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return errno }
        close(descriptor)
        return nil
    }

    private static func made(_ path: String) -> Bool {
        closed(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
    }

    private static func closed(_ descriptor: Int32) -> Bool {
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }

    /// Ends the child at once.
    private static func isParent(_ process: Int) -> Bool {
        if process == 0 { _exit(0) }
        guard process > 0 else { return false }
        waitpid(pid_t(process), nil, 0)
        return true
    }

    private static func readsMemory(of process: pid_t) -> Bool {
        var byte: UInt8 = 0
        return withUnsafeMutableBytes(of: &byte) { byte in
            var own = iovec(iov_base: byte.baseAddress, iov_len: 1)
            // The program's own code has the same address only by chance, so the fault of a wrong address counts as allowed.
            var other = iovec(iov_base: UnsafeMutableRawPointer(bitPattern: 0x1000), iov_len: 1)
            return withUnsafeMutablePointer(to: &own) { own in
                withUnsafeMutablePointer(to: &other) { other in
                    let count = linux_syscall(
                        Int(__NR_process_vm_readv), UInt(process), UInt(bitPattern: own), 1, UInt(bitPattern: other), 1)
                    return count >= 0 || errno == EFAULT
                }
            }
        }
    }

    private static func hasCode(_ protection: Int32) -> Bool {
        let page = mmap(nil, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        return page != nil && page != UnsafeMutableRawPointer(bitPattern: -1)
    }
}
