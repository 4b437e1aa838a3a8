#include "CLinux.h"

#include <malloc.h>

void clinux_share_heap(void) {
    // Not every C library has heaps of threads.
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 1);
#endif
}
