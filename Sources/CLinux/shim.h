// Declarations of the C library and of the kernel's headers that Swift's own module does not show. They come from
// libc6-dev and linux-libc-dev of Debian, which every C compiler needs. <linux/tcp.h> is not included, because it
// contradicts <netinet/tcp.h> of that module. _GNU_SOURCE is not defined either, because structures that both modules
// have would differ with it. Functions that need it are declared below instead.
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <malloc.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/xattr.h>

// These functions are in <pthread.h>, <spawn.h> and <fcntl.h> with _GNU_SOURCE, the second one since glibc 2.34. The number
// is that of <linux/fs.h>.
extern int pthread_setattr_default_np(const pthread_attr_t *attributes);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
extern int sync_file_range(int descriptor, off_t offset, off_t bytes, unsigned int flags);
#define SYNC_FILE_RANGE_WRITE 2

// prctl(2) takes any number of arguments, and Swift cannot call such a function. This one is for options with one
// argument.
static inline int linux_prctl(int option, unsigned long argument) { return prctl(option, argument, 0UL, 0UL, 0UL); }
