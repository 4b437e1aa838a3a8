#include "CLinux.h"

#include <malloc.h>

void clinux_share_heap(void) {
    // Not every C library has heaps of threads.
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 1);
#endif
}

void clinux_return_heap(void) {
    // It looks through all heaps, the ones of other threads too.
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
