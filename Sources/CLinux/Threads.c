#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { tried_stack = 128 << 10 };

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *wait_at_gate(void *argument) {
    (void)argument;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return NULL;
}

int clinux_try_threads(int count) {
    if (count > CLINUX_TRIED_THREADS) count = CLINUX_TRIED_THREADS;
    // The threads get stacks of their own, because the C library keeps the stacks of ended threads.
    size_t size = (size_t)count * tried_stack;
    char *stacks = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stacks == MAP_FAILED) return 0;
    pthread_t threads[CLINUX_TRIED_THREADS];
    int started = 0;
    pthread_mutex_lock(&gate);
    for (; started < count; started++) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        int error = pthread_attr_setstack(&attributes, stacks + (size_t)started * tried_stack, tried_stack);
        if (error == 0) error = pthread_create(&threads[started], &attributes, wait_at_gate, NULL);
        pthread_attr_destroy(&attributes);
        if (error != 0) break;
    }
    pthread_mutex_unlock(&gate);
    for (int index = 0; index < started; index++) pthread_join(threads[index], NULL);
    munmap(stacks, size);
    return started;
}

size_t clinux_stack_size(void) {
    pthread_attr_t attributes;
    size_t size = 0;
    pthread_attr_init(&attributes);
    if (pthread_attr_getstacksize(&attributes, &size) != 0) size = 0;
    pthread_attr_destroy(&attributes);
    return size;
}

bool clinux_can_map(size_t count) {
    void *memory = mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    munmap(memory, count);
    return true;
}

bool clinux_has_limited_memory(void) {
    struct rlimit space, data;
    return (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        || (getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY);
}
