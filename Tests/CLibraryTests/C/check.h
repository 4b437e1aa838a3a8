// Checks for the C programs of the tests: a failed one ends the program and prints its place.

#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sharedcore.h"

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

#define CHECK_CODE(expected, call) \
    do { \
        int found_ = (call); \
        if (found_ != (expected)) { \
            fprintf(stderr, "%s:%d: %s gave %d (%s), not %d: %s\n", __FILE__, __LINE__, #call, found_, \
                sc_code_name(found_), (expected), error.message); \
            exit(1); \
        } \
    } while (0)

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#include <unistd.h>

// A thread of the library frees a participant soon after its handle was closed. Until then the sanitizer takes the memory for its weak
// references for a leak, because the only pointer to it is shifted, within the count of references. A leak that stays ends the
// program with an error all the same.
__attribute__((destructor)) static void wait_for_frees(void) {
    for (int tries = 0; tries < 50 && __lsan_do_recoverable_leak_check() != 0; tries++) usleep(100000);
}
#endif
#endif

// The error of a program's last failed call.
static sc_error error;

static inline sc_group open_group(const char *directory, const char *role) {
    sc_options options = SC_OPTIONS_INIT;
    sc_group group = 0;
    options.directory = directory;
    options.role = role;
    CHECK_CODE(SC_OK, sc_open(&options, &group, &error));
    return group;
}

#endif
