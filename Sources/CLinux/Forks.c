#define _GNU_SOURCE
#include "CLinux.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

// A page that the kernel fills with zeros in a child, for each kind of fork. Without such a page, the process id is compared.
static _Atomic(int *) page;
static _Atomic(pid_t) number;

static void mark(void) {
    int *new = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (new == MAP_FAILED) return;
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    if (madvise(new, size, MADV_WIPEONFORK) != 0) {
        munmap(new, size);
        return;
    }
    *new = 1;
    int *none = NULL;
    if (!atomic_compare_exchange_strong(&page, &none, new)) munmap(new, size);
}

bool clinux_is_forked_child(void) {
    int *marked = atomic_load_explicit(&page, memory_order_acquire);
    if (marked) return *(volatile int *)marked == 0;
    pid_t noted = atomic_load(&number);
    if (noted) return noted != getpid();
    mark();
    atomic_store(&number, getpid());
    return false;
}
