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
