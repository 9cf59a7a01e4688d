// Declarations of the C library and of the kernel's headers that Swift's own module does not show. They come from
// libc6-dev and linux-libc-dev of Debian, which every C compiler needs. <linux/tcp.h> is not included, because it
// contradicts <netinet/tcp.h> of that module. _GNU_SOURCE is not defined either, because structures that both modules
// have would differ with it. Functions that need it are declared below instead.
#include <asm/unistd.h>
#include <linux/filter.h>
#include <linux/inet_diag.h>
#include <linux/landlock.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/seccomp.h>
#include <linux/sock_diag.h>
#include <malloc.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/xattr.h>
#include <unistd.h>

// These functions are in <pthread.h>, <spawn.h>, <fcntl.h> and <stdio.h> with _GNU_SOURCE, the second one since glibc 2.34. The
// numbers are those of <linux/fs.h>.
extern int pthread_setattr_default_np(const pthread_attr_t *attributes);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
extern int sync_file_range(int descriptor, off_t offset, off_t bytes, unsigned int flags);
#define SYNC_FILE_RANGE_WRITE 2
extern int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned int flags);
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#define RENAME_EXCHANGE 2
#endif

// In <dlfcn.h> with _GNU_SOURCE: which file an address was loaded from, and where that begins.
typedef struct { const char *dli_fname; void *dli_fbase; const char *dli_sname; void *dli_saddr; } Dl_info;
extern int dladdr(const void *address, Dl_info *place);

// prctl(2) takes any number of arguments, and Swift cannot call such a function. This one is for options with one
// argument.
static inline int linux_prctl(int option, unsigned long argument) { return prctl(option, argument, 0UL, 0UL, 0UL); }

// The C library's function takes a mask of a fixed size, which is too short for some machines.
extern long syscall(long number, ...);
static inline int linux_affinity(void *mask, size_t bytes) {
    return syscall(__NR_sched_getaffinity, 0, bytes, mask) < 0 ? -1 : 0;
}

// The arguments where the kernel has put them, up to a null pointer: before the environment, with their number in front (System V
// ABI, 3.4.1). Without /proc, the Swift runtime does not know them. Null where the environment is elsewhere by now.
extern char **__environ;
static inline char **linux_arguments(void) {
    if (!__environ || __environ[-1]) return 0;
    for (long count = 0; count < 1L << 20; count++)
        if ((long)__environ[-2 - count] == count) return __environ - 1 - count;
    return 0;
}

// Landlock, seccomp and capabilities have no functions in the C library, and syscall(2) takes any number of arguments, too.
// The structure is that of a newer <linux/landlock.h> than Debian 12 has: a kernel takes the part of it that it knows.
struct linux_landlock_ruleset { __u64 handled_access_fs, handled_access_net, scoped; };
static inline long linux_syscall(long number, unsigned long a, unsigned long b, unsigned long c, unsigned long d, unsigned long e) {
    return syscall(number, a, b, c, d, e, 0UL);
}
static inline int linux_landlock_abi(void) {
    return (int)syscall(__NR_landlock_create_ruleset, (void *)0, 0UL, LANDLOCK_CREATE_RULESET_VERSION);
}
static inline int linux_landlock_create_ruleset(const struct linux_landlock_ruleset *attributes, size_t size) {
    return (int)syscall(__NR_landlock_create_ruleset, attributes, size, 0U);
}
static inline int linux_landlock_allow(int ruleset, int folder, __u64 access) {
    struct landlock_path_beneath_attr rule = {access, folder};
    return (int)syscall(__NR_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0U);
}
static inline int linux_landlock_restrict_self(int ruleset) { return (int)syscall(__NR_landlock_restrict_self, ruleset, 0U); }
static inline int linux_seccomp(unsigned int operation, unsigned int flags, void *argument) {
    return (int)syscall(__NR_seccomp, operation, flags, argument);
}
// The two words of a set are those of capabilities 0 to 31 and 32 to 63 (capset(2), version 3).
static inline int linux_keep_capabilities(__u64 kept) {
    struct { __u32 version; int process; } header = {0x20080522, 0};
    __u32 low = (__u32)kept, high = (__u32)(kept >> 32);
    struct { __u32 effective, permitted, inheritable; } sets[2] = {{low, low, 0}, {high, high, 0}};
    return (int)syscall(__NR_capset, &header, sets);
}
static inline int linux_permitted_capabilities(__u64 *permitted) {
    struct { __u32 version; int process; } header = {0x20080522, 0};
    struct { __u32 effective, permitted, inheritable; } sets[2] = {{0, 0, 0}, {0, 0, 0}};
    int status = (int)syscall(__NR_capget, &header, sets);
    *permitted = (__u64)sets[1].permitted << 32 | sets[0].permitted;
    return status;
}
// The macros that lay out what goes with a message are none that Swift imports (cmsg(3)). One byte, and a descriptor if it is not
// negative, cross a pair of sockets.
union linux_descriptor_message { struct cmsghdr header; char room[CMSG_SPACE(sizeof(int))]; };
static inline long linux_send_byte(int socket, unsigned char byte, int descriptor) {
    union linux_descriptor_message control = {0};
    struct iovec bytes = {&byte, 1};
    struct msghdr message = {0};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    if (descriptor >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control.room;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof descriptor);
        *(int *)CMSG_DATA(header) = descriptor;
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}
static inline long linux_receive_byte(int socket, unsigned char *byte, int *descriptor) {
    union linux_descriptor_message control = {0};
    struct iovec bytes = {byte, 1};
    struct msghdr message = {0};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control.room;
    long count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    struct cmsghdr *header = count == 1 ? CMSG_FIRSTHDR(&message) : 0;
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) *descriptor = *(int *)CMSG_DATA(header);
    return count;
}
