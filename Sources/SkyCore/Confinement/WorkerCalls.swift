import CLinux
import Glibc

extension SystemCallFilter {
    /// What a worker calls until its link to the daemon is up.
    static func beforeLink() -> SystemCallFilter {
        var filter = linked()
        filter.allowed.formUnion([
            Int(__NR_connect), Int(__NR_mmap), Int(__NR_mprotect), Int(__NR_prctl), Int(__NR_seccomp),
            Int(__NR_setpriority), Int(__NR_setrlimit),
        ])
        filter.conditional[Int(__NR_socket)] = (0, .isOne(of: [UInt32(AF_UNIX)]))
        for number in [__NR_mmap, __NR_mprotect] { filter.conditional[Int(number)] = nil }
        return filter
    }

    /// What a worker calls from then on: it reads files, takes and frees memory, waits, and talks over the link that it has. It
    /// starts threads and no processes, sends signals to itself only, and makes no memory executable.
    ///
    /// - Parameter process: the number of the worker's process.
    static func linked(process: pid_t = getpid()) -> SystemCallFilter {
        var filter = SystemCallFilter()
        filter.allowed = Set((files + memory + threads + time + signals + waiting + link + questions).map { Int($0) })
        let own: Condition = .isOne(of: [UInt32(bitPattern: process)])
        filter.conditional = [
            // PROT_EXEC
            Int(__NR_mmap): (2, .has([4: false])), Int(__NR_mprotect): (2, .has([4: false])),
            // CLONE_THREAD: not a process of its own. (No namespaces are made with it either: the kernel refuses that.)
            Int(__NR_clone): (0, .has([0x10000: true])),
            Int(__NR_kill): (0, own), Int(__NR_tgkill): (0, own),
            Int(__NR_prlimit64): (0, .isOne(of: [0, UInt32(bitPattern: process)])),
            // TCGETS, FIONREAD, FIONBIO, FIOCLEX and FIONCLEX. Of terminals and devices nothing else is needed.
            Int(__NR_ioctl): (1, .isOne(of: [0x5401, 0x541B, 0x5421, 0x5450, 0x5451])),
            // PR_SET_NAME, PR_GET_NAME and PR_SET_VMA: names of threads and of memory.
            Int(__NR_prctl): (0, .isOne(of: [15, 16, 0x5356_4D41])),
        ]
        // Landlock denies writing, too, where the kernel has it.
        filter.conditional[Int(__NR_openat)] = (2, reading)
        #if arch(x86_64)
            filter.allowed.formUnion(ofFirstDays.map { Int($0) })
            filter.conditional[Int(__NR_open)] = (1, reading)
        #endif
        // Its arguments are in memory, where no filter can see them. The C library takes `clone` instead.
        filter.absent = [Int(__NR_clone3)]
        return filter
    }

    /// Without O_WRONLY, O_RDWR, O_CREAT and O_TRUNC.
    private static let reading: Condition = .has([1: false, 2: false, 0o100: false, 0o1000: false])

    private static let files: [Int32] = [
        __NR_close, __NR_close_range, __NR_dup, __NR_dup3, __NR_faccessat, __NR_faccessat2, __NR_fadvise64, __NR_fcntl,
        __NR_fstat, __NR_fstatfs, __NR_getcwd, __NR_getdents64, __NR_lseek, __NR_newfstatat, __NR_pipe2,
        __NR_pread64, __NR_preadv, __NR_preadv2, __NR_pwrite64, __NR_read, __NR_readahead, __NR_readlinkat, __NR_readv,
        __NR_statfs, __NR_statx, __NR_write, __NR_writev,
    ]
    private static let memory: [Int32] = [
        __NR_brk, __NR_madvise, __NR_membarrier, __NR_mincore, __NR_mlock, __NR_mremap, __NR_msync, __NR_munlock,
        __NR_munmap,
    ]
    private static let threads: [Int32] = [
        __NR_exit, __NR_exit_group, __NR_futex, __NR_futex_waitv, __NR_get_robust_list, __NR_gettid, __NR_rseq,
        __NR_sched_get_priority_max, __NR_sched_get_priority_min, __NR_sched_getaffinity, __NR_sched_getparam,
        __NR_sched_getscheduler, __NR_sched_yield, __NR_set_robust_list, __NR_set_tid_address,
    ]
    private static let time: [Int32] = [
        __NR_clock_getres, __NR_clock_gettime, __NR_clock_nanosleep, __NR_getitimer, __NR_gettimeofday, __NR_nanosleep,
        __NR_setitimer, __NR_timerfd_create, __NR_timerfd_gettime, __NR_timerfd_settime, __NR_times,
    ]
    private static let signals: [Int32] = [
        __NR_restart_syscall, __NR_rt_sigaction, __NR_rt_sigpending, __NR_rt_sigprocmask, __NR_rt_sigreturn,
        __NR_rt_sigsuspend, __NR_rt_sigtimedwait, __NR_sigaltstack,
    ]
    private static let waiting: [Int32] = [
        __NR_epoll_create1, __NR_epoll_ctl, __NR_epoll_pwait, __NR_epoll_pwait2, __NR_eventfd2, __NR_ppoll,
        __NR_pselect6,
    ]
    private static let link: [Int32] = [
        __NR_getpeername, __NR_getsockname, __NR_getsockopt, __NR_recvfrom, __NR_recvmsg, __NR_sendmsg, __NR_sendto,
        __NR_setsockopt, __NR_shutdown,
    ]
    private static let questions: [Int32] = [
        __NR_getcpu, __NR_getegid, __NR_geteuid, __NR_getgid, __NR_getgroups, __NR_getpgid, __NR_getpid, __NR_getppid,
        __NR_getpriority, __NR_getrandom, __NR_getrlimit, __NR_getrusage, __NR_getsid, __NR_getuid, __NR_sysinfo,
        __NR_uname,
    ]
    #if arch(x86_64)
        /// Older forms of the calls above, which later architectures do not have.
        private static let ofFirstDays: [Int32] = [
            __NR_access, __NR_arch_prctl, __NR_dup2, __NR_epoll_create, __NR_epoll_wait, __NR_eventfd, __NR_getdents,
            __NR_getpgrp, __NR_lstat, __NR_pause, __NR_pipe, __NR_poll, __NR_readlink, __NR_select, __NR_stat,
            __NR_time,
        ]
    #endif
}
