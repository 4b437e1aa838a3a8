#include "CLinux.h"

#include <malloc.h>

void clinux_share_heap(void) {
    // Not every C library has a heap for each thread.
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 1);
#endif
}

void clinux_return_heap(void) {
    // It searches all heaps, also those of other threads.
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
