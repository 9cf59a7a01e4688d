// Stands in for the allocator of the C library in the program it is linked into, and counts. Swift's runtime and all
// libraries of the program end up here too, since symbols of the program come before those of its shared libraries.
// glibc exports its own functions under the names below as well, so nothing has to be looked up at run time.

#include "allocation_count.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static atomic_bool counting;
static atomic_int_fast64_t allocations;
static atomic_int_fast64_t releases;

void allocation_count_start(void) {
    atomic_store(&allocations, 0);
    atomic_store(&releases, 0);
    atomic_store(&counting, 1);
}

int64_t allocation_count_stop(void) {
    atomic_store(&counting, 0);
    return atomic_load(&allocations);
}

int64_t allocation_count_live(void) {
    return atomic_load(&allocations) - atomic_load(&releases);
}

void allocation_keep(void) {
    mallopt(M_MMAP_THRESHOLD, 32 * 1024 * 1024);  // The largest that glibc takes (mallopt(3)).
    mallopt(M_TRIM_THRESHOLD, 256 * 1024 * 1024);
}

void allocation_trim(void) {
    malloc_trim(0);
}

// Off while times are taken: one counter for all threads would be felt there.
static inline void count_one(void) {
    if (atomic_load_explicit(&counting, memory_order_relaxed))
        atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
}

static inline void count_release(const void *memory) {
    if (memory != NULL && atomic_load_explicit(&counting, memory_order_relaxed))
        atomic_fetch_add_explicit(&releases, 1, memory_order_relaxed);
}

void *malloc(size_t size) {
    count_one();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    count_one();
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    // In place or not, it may cost as much as a new block; but a block more there is only where there was none.
    count_one();
    count_release(memory);
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    count_one();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count_one();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
    count_one();
    void *taken = __libc_memalign(alignment, size);
    if (taken == NULL) return ENOMEM;
    *memory = taken;
    return 0;
}

void free(void *memory) {
    count_release(memory);
    __libc_free(memory);
}
