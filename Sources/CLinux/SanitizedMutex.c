// Only in builds with the thread sanitizer: reports to it the locks that `Mutex` takes and releases while other threads wait.
//
// The fast path of a Mutex without contention is compiled into this package, and the sanitizer sees it. The slow path, through
// the kernel, is in Swift's library, which is not instrumented. Without these functions the sanitizer does not see that order,
// and reports a race inside of every Mutex with contention (Swift 6.3). Each function replaces the library's function of the
// same name and calls it.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *mutex

// A program with Swift's static library uses the library's functions and not these.
#define STANDS_IN_FRONT __attribute__((weak))

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK_SLOW "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

void __tsan_acquire(void *address);
void __tsan_release(void *address);

SWIFT void shared_core_lock_slow(uint32_t thread, SELF) __asm__(LOCK_SLOW) STANDS_IN_FRONT;
SWIFT bool shared_core_try_lock_slow(SELF) __asm__(TRY_LOCK_SLOW) STANDS_IN_FRONT;
SWIFT void shared_core_unlock_slow(SELF) __asm__(UNLOCK_SLOW) STANDS_IN_FRONT;

static SWIFT void (*library_lock_slow)(uint32_t, SELF);
static SWIFT bool (*library_try_lock_slow)(SELF);
static SWIFT void (*library_unlock_slow)(SELF);

static void *next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL) {
        static const char text[] = "Swift's Mutex has other functions than Sources/CLinux/SanitizedMutex.c knows.\n";
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        abort();
    }
    return found;
}

__attribute__((constructor)) static void find_library(void) {
    library_lock_slow = next(LOCK_SLOW);
    library_try_lock_slow = next(TRY_LOCK_SLOW);
    library_unlock_slow = next(UNLOCK_SLOW);
}

SWIFT void shared_core_lock_slow(uint32_t thread, SELF) {
    library_lock_slow(thread, mutex);
    __tsan_acquire(mutex);
}

SWIFT bool shared_core_try_lock_slow(SELF) {
    bool has_locked = library_try_lock_slow(mutex);
    if (has_locked) __tsan_acquire(mutex);
    return has_locked;
}

SWIFT void shared_core_unlock_slow(SELF) {
    __tsan_release(mutex);
    library_unlock_slow(mutex);
}

#endif
#endif
